import { describe, test } from 'node:test';
import { DefinitionHistory } from '../../../../test/support/model/definition-history.ts';

const seeds = Array.from({ length: 12 }, (_, index) => index + 1);

describe('runtime/definitions: what runs is a function of the objects and the manifests', () => {
  for (const seed of seeds)
    test(`whatever happens before, seed ${seed}`, async () => {
      await new DefinitionHistory(seed).run(40);
    });

  for (const seed of seeds)
    test(`whatever happens to two hubs with the same members, seed ${seed}`, async () => {
      await new DefinitionHistory(seed, { hubs: 2, members: 2 }).run(40);
    });
});
