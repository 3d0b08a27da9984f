import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeAttacks } from './support/attack-rig.ts';

const entries = Array.from({ length: 3_000 }, (_, index) => ({
  host: `h${index % 100}`,
  n: index,
}));
const hosts = Array.from({ length: 100 }, (_, index) => `h${index}`);
const forHosts = (data: string) => `  children:
    - id: part
      forEach: "\${ spec.hosts }"
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }-\${ $item }" }
        data: { ports: '${data}' }
`;
const oneChild = `  children:
    - id: part
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
`;

/** The tools of the test runner make each step ten times as slow; the usual limits are five times as many. */
const limits = '  controller: { limits: { steps: 200000 } }\n';

/** A filter over a second list of the resource. */
const filter = '$json(spec.entries[host = $item].n)';

describeAttacks('attacks/time', {}, (rig) => {
  for (const [what, body, reason, leastTurns = 6] of [
    ['forEach with a filter over a second list', forHosts(`\${ ${filter} }`), 'LimitReached'],
    [
      'a Handlebars text that prints a list for each element',
      forHosts('{{#each spec.entries}}{{#if (eq (json ../spec.entries) "")}}x{{/if}}{{/each}}'),
      'LimitReached',
      // Few calls of a helper use up the limits, and none of them is interrupted.
      1,
    ],
    [
      'a Handlebars text that runs through a list for each element of it',
      forHosts('{{#each spec.entries}}{{#each ../spec.entries}}{{#if n}}{{/if}}{{/each}}{{/each}}'),
      'LimitReached',
    ],
    [
      'a status that compares each with each',
      `${oneChild}  status: { n: "\${ $count(spec.entries[n in $$.spec.entries.n]) }" }\n`,
      'LimitReached',
    ],
    [
      'a readiness that compares each with each',
      `${oneChild}      ready: "\${ $count(spec.entries[n in $$.spec.entries.n]) > 0 }"\n`,
      'ChildFailed',
    ],
    [
      'when',
      `${oneChild}      when: "\${ $count(spec.entries[n in $$.spec.entries.n]) > 0 }"\n`,
      'LimitReached',
    ],
    [
      'a condition',
      `${oneChild}  conditions:\n    - { type: Odd, status: "\${ $count(spec.entries[n in $$.spec.entries.n]) > 0 }" }\n`,
      'LimitReached',
    ],
  ] as const) {
    test(`${what}: it is limited, and others are served meanwhile`, async () => {
      const { ready, turns, served } = await rig.attack(`${body}${limits}`, { hosts, entries });
      assert.equal(ready.reason, reason, ready.message);
      assert.match(ready.message, /at most 200000 evaluation steps .*controller\.limits\.steps/);
      assert.ok(turns >= leastTurns, `${turns} turns`);
      assert.ok(served > 0, `${served} served`);
    });
  }

  test('what needs less than the limits is made, however many pieces it has', async () => {
    const few = entries.slice(0, 20);
    const { ready } = await rig.attack(forHosts(`\${ ${filter} }`), { hosts, entries: few });
    assert.equal(ready.reason, 'AllReady', ready.message);
  });
});
