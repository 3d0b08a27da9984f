import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { definitionParser } from '../../../../test/support/definition-parser.ts';
import { thingDefinition } from '../../../../test/support/definitions.ts';
import type { DefinitionTask } from '../definitions/decide.ts';
import { memberTaskOf } from './member-definition.ts';

function located(selector: string) {
  const text = thingDefinition('a', `  controller: { clusters: { selector: ${selector} } }\n`);
  const [found] = definitionParser.parse(text, 'a.yaml').definitions;
  assert.ok(found);
  return found;
}

const prod = located('{ matchLabels: { tier: prod } }');
const run: DefinitionTask = { kind: 'run', desired: { located: prod } };
const policy = { children: true, crd: true };
const uninstall: DefinitionTask = {
  kind: 'finalize',
  reason: 'Deleted',
  message: 'Being deleted',
  uninstall: { policy, located: prod, sinceMs: 0 },
};
const rejected: DefinitionTask = { kind: 'finalize', reason: 'Rejected', message: 'No' };

describe('runtime/members/member-definition', () => {
  for (const [title, task, labels, isKnown, expected] of [
    ['runs where its labels match', run, { tier: 'prod' }, false, 'run'],
    ['does nothing elsewhere', run, { tier: 'test' }, false, undefined],
    [
      'only finalizes where it was and is not selected any more',
      run,
      { tier: 'test' },
      true,
      'finalize',
    ],
    ['is uninstalled where it is selected', uninstall, { tier: 'prod' }, true, 'uninstall'],
    ['is not uninstalled where it never was', uninstall, { tier: 'prod' }, false, undefined],
    ['is not uninstalled where it is not selected', uninstall, {}, true, 'finalize'],
    ['that does not run finalizes where it was', rejected, {}, true, 'finalize'],
    ['that does not run does nothing elsewhere', rejected, {}, false, undefined],
  ] as const)
    test(`a definition ${title}`, () => {
      const found = memberTaskOf(task, { labels, isPaused: false, isKnown });
      const isUninstalled = found?.kind === 'finalize' && found.uninstall !== undefined;
      assert.equal(isUninstalled ? 'uninstall' : found?.kind, expected);
    });

  test('everything is paused in a paused member', () => {
    const isPausedIn = (task: DefinitionTask) => {
      const options = { labels: { tier: 'prod' }, isPaused: true, isKnown: true };
      const found = memberTaskOf(task, options);
      return found?.kind === 'run'
        ? found.desired.isPaused
        : (found as { isPaused?: boolean }).isPaused;
    };
    for (const task of [run, uninstall, rejected]) assert.equal(isPausedIn(task), true);
  });
});
