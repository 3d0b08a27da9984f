import { describe, test } from 'node:test';
import { MemberHistory, memberRuns } from '../../../../test/support/model/member-history.ts';

const { count, firstSeed } = memberRuns;

describe('reconcile/members: random histories', () => {
  test('an object that was created beside the inventory of a lost response is found', async () => {
    await new MemberHistory(239, 'if connected').run();
  });

  for (const selection of ['by labels', 'if connected'] as const)
    test(`a member that is not usable is never written to, and all converge, selected ${selection}: ${count} from seed ${firstSeed}`, async () => {
      for (let seed = firstSeed; seed < firstSeed + count; seed++) {
        const history = new MemberHistory(seed, selection);
        try {
          await history.run();
        } catch (error) {
          const message = `HOMEOSTAT_MEMBER_SEED=${seed} fails after:\n${history.log.join('\n')}`;
          throw new Error(message, { cause: error });
        }
      }
    });
});
