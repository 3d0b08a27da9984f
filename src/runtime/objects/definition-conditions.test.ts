import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { locatedThing, runningView } from '../../../test/support/fakes/definition-world.ts';
import type { DefinitionView } from '../definition-view.ts';
import { conditionsOf, refusalText } from './definition-conditions.ts';
import type { DefinitionFacts } from './definition-facts.ts';

const thing = locatedThing('thing');
const { revision } = thing.definition;
const origin = { source: 'configmap', ref: 'ns/ops/thing.yaml' } as const;
const rollout = {
  from: 'aaaaaaaaaa',
  to: revision,
  reached: 3,
  total: 10,
  deletions: 12,
  message: 'It says why',
};

function factsWith(
  view: Partial<DefinitionView> | undefined,
  changes: Partial<DefinitionFacts> = {},
): DefinitionFacts {
  return {
    origin,
    wanted: { located: thing, origin },
    refusal: undefined,
    idle: undefined,
    view: view && runningView(thing, view),
    isPaused: false,
    isTerminating: false,
    ...changes,
  };
}

/** Each condition as `Type=status reason`, the summary with its message. */
function said(facts: DefinitionFacts): readonly string[] {
  return conditionsOf(facts).map(({ type, status, reason, message }) =>
    type === 'Ready' ? `${type}=${status} ${reason}: ${message}` : `${type}=${status} ${reason}`,
  );
}

const refusal = { message: 'Two mistakes', diagnostics: ['a.yaml:1:2: One', 'a.yaml:3:4: Two'] };
const kindMissing = 'The kind is not served';

const table: readonly (readonly [string, DefinitionFacts, readonly string[]])[] = [
  [
    'one that runs as it should',
    factsWith({}),
    [
      'Ready=True Running: ',
      'Accepted=True Accepted',
      'KindAvailable=True Served',
      'Permitted=True Permitted',
      'Running=True Running',
    ],
  ],
  [
    'one that is being looked at',
    factsWith({ state: { kind: 'starting', message: 'Schemas are asked for' } }),
    [
      'Ready=False Starting: Schemas are asked for',
      'Accepted=Unknown Checking',
      'KindAvailable=Unknown NotStarted',
      'Permitted=Unknown NotStarted',
      'Running=False Starting',
      'Reconciling=True Starting',
    ],
  ],
  [
    'one whose newest text has mistakes',
    factsWith({}, { refusal }),
    [
      `Ready=False Refused: Revision ${revision} goes on\na.yaml:1:2: One\na.yaml:3:4: Two`,
      'Accepted=False Refused',
      'KindAvailable=True Served',
      'Permitted=True Permitted',
      'Running=True Running',
      'Stalled=True Refused',
    ],
  ],
  [
    'one that never had a good text',
    factsWith(undefined, { refusal, wanted: undefined }),
    [
      'Ready=False Refused: a.yaml:1:2: One\na.yaml:3:4: Two',
      'Accepted=False Refused',
      'KindAvailable=Unknown NotStarted',
      'Permitted=Unknown NotStarted',
      'Running=False NotStarted',
      'Stalled=True Refused',
    ],
  ],
  [
    'one whose kind is not there',
    factsWith({ state: { kind: 'waiting', message: kindMissing } }),
    [
      `Ready=False KindMissing: ${kindMissing}`,
      'Accepted=True Accepted',
      'KindAvailable=False KindMissing',
      'Permitted=Unknown NotStarted',
      'Running=False KindMissing',
      'Stalled=True KindMissing',
    ],
  ],
  [
    'one that may not do what it must',
    factsWith({ problems: ['ConfigMap: no'], missingRights: ['list configmaps'] }),
    [
      'Ready=False Forbidden: list configmaps',
      'Accepted=True Accepted',
      'KindAvailable=True Served',
      'Permitted=False Forbidden',
      'Running=True Running',
      'Stalled=True Forbidden',
    ],
  ],
  [
    'one that cannot start for want of a right',
    factsWith({ state: { kind: 'failing', message: 'create crds', isForbidden: true } }),
    [
      'Ready=False Forbidden: create crds',
      'Accepted=Unknown Checking',
      'KindAvailable=Unknown NotStarted',
      'Permitted=False Forbidden',
      'Running=False Failing',
      'Stalled=True Forbidden',
    ],
  ],
];

const summaries: readonly (readonly [string, DefinitionFacts, string])[] = [
  [
    'deletions that are held',
    factsWith({ rollout: { ...rollout, state: 'held' } }),
    'Ready=False DeletionsHeld: It says why',
  ],
  [
    'a roll-out that has stopped',
    factsWith({ rollout: { ...rollout, state: 'stopped' } }),
    'Ready=False RolloutStopped: It says why',
  ],
  [
    'a roll-out on its way',
    factsWith({ rollout: { ...rollout, state: 'rolling' } }),
    `Ready=False RollingOut: From revision aaaaaaaaaa to ${revision}`,
  ],
  [
    'a pause',
    factsWith({}, { isPaused: true }),
    'Ready=False Paused: Annotation homeostat.dev/paused is on it or in its text',
  ],
  [
    'a removal, before everything else',
    factsWith({ removal: 'Two resources are left' }, { isTerminating: true, refusal }),
    'Ready=False Terminating: Two resources are left',
  ],
  [
    'a watch that fails for another reason',
    factsWith({ problems: ['Pod: no answer'], missingRights: [] }),
    'Ready=False WatchFailing: Pod: no answer',
  ],
  [
    'objects that match no more',
    factsWith({ leftInPlace: 2 }),
    'Ready=True Running: 2 objects match no more and keep their children',
  ],
];

describe('runtime/objects/definition-conditions', () => {
  for (const [what, facts, expected] of table) {
    test(what, () => assert.deepEqual(said(facts), expected));
  }

  for (const [what, facts, expected] of summaries) {
    test(`the summary tells of ${what}`, () => assert.equal(said(facts)[0], expected));
  }

  test('where it stands is told beside what is to be said of it though it is taken', () => {
    const warnings = ['a.yaml:1:2: Odd. Quote it', 'a.yaml:3:4: Odder'];
    const accepted = (facts: DefinitionFacts) =>
      conditionsOf(facts).find(({ type }) => type === 'Accepted')?.message;
    const from = 'From configmap ns/ops/thing.yaml';
    assert.equal(accepted(factsWith({})), from);
    assert.equal(
      accepted(factsWith({}, { wanted: { located: thing, origin, warnings } })),
      `${from}\nWarning: a.yaml:1:2: Odd. Quote it\nWarning: a.yaml:3:4: Odder`,
    );
  });

  test('no reason is ever empty: servers do not take it', () => {
    for (const [, facts] of [...table, ...summaries])
      for (const { reason } of conditionsOf(facts)) assert.match(reason, /^[A-Z][A-Za-z]+$/);
  });

  test('more mistakes than an object can hold are cut', () => {
    const diagnostics = Array.from(
      { length: 100 },
      (_, line) => `a.yaml:${line}:1: ${'x'.repeat(500)}`,
    );
    const text = refusalText({ message: 'Many', diagnostics });
    assert.ok(text.length <= 16_384);
    assert.ok(text.endsWith('\n...'));
  });

  test('no message holds half a character, which servers refuse: neither where it is cut nor of a text', () => {
    for (const pad of ['', 'x']) {
      const text = refusalText({ message: pad + '\u{1F600}'.repeat(10_000), diagnostics: [] });
      assert.ok(text.isWellFormed(), `cut after "${pad}"`);
    }
    const state = { kind: 'failing', message: 'Not "\ud83d"' } as const;
    for (const facts of [
      factsWith({}, { wanted: { located: thing, origin, warnings: ['Odd: "\ud83d"'] } }),
      factsWith({ state }),
    ])
      for (const { type, message } of conditionsOf(facts)) assert.ok(message.isWellFormed(), type);
  });

  test('no message is longer than an object can hold, whatever it lists', () => {
    const many = Array.from({ length: 500 }, (_, at) => `${at} ${'x'.repeat(500)}`);
    for (const facts of [
      factsWith({ missingRights: many }),
      factsWith({ problems: many, missingRights: [] }),
      factsWith({}, { wanted: { located: thing, origin, warnings: many } }),
    ])
      for (const { type, message } of conditionsOf(facts))
        assert.ok(message.length <= 16_384, `${type}: ${message.length}`);
  });
});
