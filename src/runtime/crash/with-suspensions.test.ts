import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LocatedDefinition } from '../../definition/index.ts';
import type { WantedSet } from '../wanted-definition.ts';
import { crashesOf, withSuspensions } from './with-suspensions.ts';

function wanted(...definitions: readonly { name: string; revision: string }[]): WantedSet {
  return {
    definitions: definitions.map((definition) => ({
      located: { definition } as unknown as LocatedDefinition,
    })),
  };
}

describe('runtime/crash suspensions', () => {
  const good = { name: 'good', revision: '1' };
  const bad = { name: 'bad', revision: '2' };

  test('a set of which nothing has crashed stays as it is', () => {
    const set = wanted(good, bad);
    assert.equal(withSuspensions(set, { suspensions: [], crashes: [] }), set);
  });

  test('the suspended revision is marked, not another one; crashes of all revisions are told', () => {
    const crashes = [
      { name: 'bad', revision: '1', atMs: 0 },
      { name: 'bad', revision: '2', atMs: 1_000 },
    ];
    const suspensions = [
      { ...bad, message: 'three times' },
      { ...good, revision: '0', message: 'long ago' },
    ];
    const { definitions } = withSuspensions(wanted(good, bad), { suspensions, crashes });
    const told = [
      { revision: '1', time: '1970-01-01T00:00:00.000Z' },
      { revision: '2', time: '1970-01-01T00:00:01.000Z' },
    ];
    assert.deepEqual(
      definitions.map(({ suspended, crashes: own }) => ({ suspended, own })),
      [
        { suspended: undefined, own: undefined },
        { suspended: 'three times', own: told },
      ],
    );
    assert.deepEqual(crashesOf('bad', told), crashes, 'what is told is read again');
  });
});
