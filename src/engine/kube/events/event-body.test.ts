import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createSystemRandom } from '#util/random.ts';
import type { EventInput } from '../roles.ts';
import { createEventBody } from './event-body.ts';

function bodyOf(changes: Partial<EventInput>, instance = 'homeostat-host') {
  const event: EventInput = {
    regarding: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'ns' } },
    type: 'Normal',
    reason: 'R',
    action: 'A',
    note: 'n',
    definition: 'podset',
    ...changes,
  };
  return createEventBody(event, { nowMs: 0, instance, random: createSystemRandom() });
}

function subject(name: string, namespace?: string): Partial<EventInput> {
  const metadata = { name, ...(namespace === undefined ? {} : { namespace }) };
  return { regarding: { apiVersion: 'v1', kind: 'X', metadata } };
}

describe('kube/event-body', () => {
  test('a note is cut at 1024 bytes, never inside a character', () => {
    assert.equal(bodyOf({ note: 'x'.repeat(1_024) }).note, 'x'.repeat(1_024));
    assert.equal(bodyOf({ note: `x${'é'.repeat(600)}` }).note, `x${'é'.repeat(511)}`);
    assert.equal(bodyOf({ note: '😀'.repeat(300) }).note, '😀'.repeat(256));
  });

  test('the name of a lasting Event depends on its content only', () => {
    const nameOf = (changes: Partial<EventInput>) => bodyOf(changes).metadata.name;
    const name = nameOf({ isLasting: true });
    assert.match(name, /^web\.[0-9a-f]{16}$/);
    assert.equal(nameOf({ isLasting: true }), name);
    assert.notEqual(nameOf({ isLasting: true, note: 'other' }), name);
    assert.notEqual(nameOf({}), nameOf({}));
  });

  test('half a character is reported as an unknown one: servers reject it', () => {
    assert.equal(bodyOf({ note: 'a \ud83d' }).note, 'a \ufffd');
    assert.equal(
      bodyOf({ note: `\ud83d ${'x'.repeat(2_000)}` }).note,
      `\ufffd ${'x'.repeat(1_020)}`,
    );
  });

  test('reason, action and instance are cut at 128 bytes', () => {
    const long = 'x'.repeat(200);
    const body = bodyOf({ reason: long, action: long }, long);
    for (const field of ['reason', 'action', 'reportingInstance'])
      assert.equal(body[field], 'x'.repeat(128));
  });

  for (const [definition, controller] of [
    ['podset', 'homeostat.dev/podset'],
    ['ns/podset', 'homeostat.dev/ns-podset'],
    [`${'a'.repeat(62)}.b`, `homeostat.dev/${'a'.repeat(62)}`],
    ['/', 'homeostat.dev/homeostat'],
  ] as const) {
    test(`the definition "${definition}" reports as ${controller}`, () => {
      assert.equal(bodyOf({ definition }).reportingController, controller);
    });
  }

  test('a subject without a namespace is reported in "default"', () => {
    assert.equal(bodyOf(subject('node')).metadata.namespace, 'default');
  });

  for (const name of [
    'web',
    'system:node:a',
    'A.B',
    '-',
    'x'.repeat(253),
    `${'x'.repeat(235)}.a`,
  ]) {
    test(`the name of an Event on "${name.slice(0, 20)}" is one that the server takes`, () => {
      const { metadata } = bodyOf(subject(name, 'ns'));
      const label = '[a-z0-9]([a-z0-9-]*[a-z0-9])?';
      assert.match(metadata.name, new RegExp(`^${label}(\\.${label})*$`));
      assert.ok(metadata.name.length <= 253);
    });
  }
});
