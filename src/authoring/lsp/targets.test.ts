import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { editedText, operatorText } from '../../../test/support/lsp/marked-text.ts';
import { parseText } from './parsed-text.ts';
import { referencesAt, targetAt } from './targets.ts';

const webApp = operatorText('web-app');
const database = operatorText('database');
const copy = operatorText('config-copy');

/** The line of the definition, and the name there. */
function targetIn({ text, offset }: { readonly text: string; readonly offset: number }) {
  const target = targetAt(parseText(text), offset);
  if (target === undefined) return undefined;
  const lineStart = text.lastIndexOf('\n', target.start) + 1;
  const line = text.slice(lineStart, text.indexOf('\n', target.start)).trim();
  return [text.slice(target.start, target.end), line];
}

describe('lsp/targets', () => {
  for (const [what, text, part, written, expected] of [
    [
      'a child',
      webApp,
      'children.deployment.status.replicas',
      'children.depl|||oyment.status.replicas',
      ['deployment', '- id: deployment'],
    ],
    [
      'an observed child',
      database,
      'observed.secret.data',
      'observed.sec|||ret.data',
      ['secret', '- id: secret'],
    ],
    [
      'a field of the template of a child',
      webApp,
      '$hash(children.config.data)',
      '$hash(children.config.da|||ta)',
      ['data', 'data:'],
    ],
    [
      'a child with another field',
      webApp,
      'children.deployment.status.replicas',
      'children.deployment.sta|||tus.replicas',
      ['deployment', '- id: deployment'],
    ],
    [
      'a child of "after"',
      database,
      'after: [secret]',
      'after: [sec|||ret]',
      ['secret', '- id: secret'],
    ],
    [
      'a var',
      database,
      'forEach: ${ vars.ordinals }\n      deleteWhen',
      'forEach: ${ vars.ordi|||nals }\n      deleteWhen',
      ['ordinals', 'ordinals: "${ [0..spec.replicas - 1] }"'],
    ],
    [
      'a property of the CRD',
      webApp,
      'host: ${ spec.ingress.host }',
      'host: ${ spec.ingress.ho|||st }',
      ['host', 'host: { type: string, description: Exposed under this name by an Ingress. }'],
    ],
    [
      'a nested property',
      webApp,
      'minReplicas: ${ spec.autoscaling.minReplicas }',
      'minReplicas: ${ spec.autoscaling.minRepl|||icas }',
      ['minReplicas', 'minReplicas: { type: integer, minimum: 1, default: 1 }'],
    ],
    [
      'a property of list items',
      webApp,
      '{{ url }}',
      '{{ ur|||l }}',
      ['url', 'properties: { name: { type: string }, url: { type: string } }'],
    ],
    [
      'the property of a mapped status field',
      webApp,
      "    url: '${",
      "    u|||rl: '${",
      ['url', 'url: { type: string }'],
    ],
    ['nothing of a function', webApp, '$hash(children', '$ha|||sh(children', undefined],
    ['nothing of an unknown name', webApp, '${ spec.image }', '${ spec.noth|||ing }', undefined],
    ['nothing of a key', webApp, 'pathType: Prefix', 'path|||Type: Prefix', undefined],
  ] as const) {
    test(`finds ${what}`, () => {
      assert.deepEqual(targetIn(editedText(text, part, written)), expected);
    });
  }

  test('finds a read', () => {
    const name = /reads\.(\w+)/.exec(copy)?.[1] ?? '';
    const offset = copy.indexOf(`reads.${name}`) + 'reads.'.length + 1;
    assert.deepEqual(targetIn({ text: copy, offset })?.[0], name);
  });

  for (const [what, text, part, written, lines] of [
    ['a var, at its definition', database, 'ordinals: "', 'ordi|||nals: "', [47, 76, 88, 98]],
    [
      'a var, at a name',
      database,
      'forEach: ${ vars.ordinals }\n      deleteWhen',
      'forEach: ${ vars.ordi|||nals }\n      deleteWhen',
      [47, 76, 88, 98],
    ],
    ['a child, also in "after"', database, '- id: secret', '- id: sec|||ret', [53, 60, 101]],
    ['a property of the CRD', webApp, 'host: { type', 'ho|||st: { type', [45, 209, 231]],
    ['no name', webApp, 'pathType: Prefix', 'path|||Type: Prefix', []],
  ] as const) {
    test(`finds all references of ${what}`, () => {
      const { text: changed, offset } = editedText(text, part, written);
      const found = referencesAt(parseText(changed), offset);
      assert.deepEqual(
        found.map(({ start }) => changed.slice(0, start).split('\n').length),
        lines,
      );
    });
  }
});
