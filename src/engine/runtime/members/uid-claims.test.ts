import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { settle } from '../../../../test/support/fake-clock.ts';
import { clusterRecordOf } from './cluster-record.ts';
import { UidClaims } from './uid-claims.ts';

const hubUid = 'uid-of-the-hub';

/** A member whose `Cluster` was created on this day. */
function memberOf(name: string, day: number, uid?: string) {
  const work = Promise.withResolvers<void>();
  const restarts: string[] = [];
  return {
    record: clusterRecordOf({
      apiVersion: 'homeostat.dev/v1alpha1',
      kind: 'Cluster',
      metadata: { name, creationTimestamp: `2026-01-0${day}T00:00:00Z` },
      ...(uid !== undefined && { status: { uid } }),
    }),
    restarts,
    endWork: work.resolve,
    restart() {
      restarts.push(name);
      return work.promise;
    },
  };
}

const olderIs = (name: string) => ({
  message: `The Cluster "${name}" is the same cluster, and older`,
});

describe('runtime/members/uid-claims', () => {
  test('the hub is no member, and a younger Cluster is not the member of an older one', async () => {
    const claims = new UidClaims();
    const [older, younger] = [memberOf('older', 1), memberOf('younger', 2)];
    const options = { hubUid, recorded: [] };
    await assert.rejects(claims.admit(older, hubUid, options), {
      message: 'The cluster is the hub itself',
    });
    await claims.admit(older, 'uid', options);
    await assert.rejects(claims.admit(younger, 'uid', options), olderIs('older'));
    claims.remove(older);
    await claims.admit(younger, 'uid', options);
  });

  for (const [first, second] of [
    [1, 2],
    [2, 1],
  ] as const)
    test(`a UID in a status beats a Cluster without one that was created on day ${second} of ${first}, also before it is connected`, async () => {
      const known = memberOf('known', first, 'uid');
      const newcomer = memberOf('newcomer', second);
      const claims = new UidClaims();
      const options = { hubUid, recorded: [known.record, newcomer.record] };
      const message =
        'The cluster of "newcomer" responds with the UID of the Cluster "known", which has recorded it';
      await assert.rejects(claims.admit(newcomer, 'uid', options), { message });
      await claims.admit(known, 'uid', options);
      await assert.rejects(claims.admit(newcomer, 'uid', options), { message });
      assert.deepEqual(known.restarts, []);
    });

  test('of two Clusters whose statuses have the UID, the older one is the member', async () => {
    const [older, younger] = [memberOf('older', 1, 'uid'), memberOf('younger', 2, 'uid')];
    const options = { hubUid, recorded: [older.record, younger.record] };
    const claims = new UidClaims();
    await assert.rejects(claims.admit(younger, 'uid', options), olderIs('older'));
    await claims.admit(older, 'uid', options);
  });

  test('a Cluster whose spec accepts another cluster does not keep the UID in its status', async () => {
    const { record } = memberOf('moved', 1, 'uid');
    const recorded = [{ ...record, expectedUid: 'another uid' }];
    await new UidClaims().admit(memberOf('newcomer', 2), 'uid', { hubUid, recorded });
  });

  test('an older Cluster waits until the work of a younger one has ended', async () => {
    const claims = new UidClaims();
    const [older, younger] = [memberOf('older', 1), memberOf('younger', 2)];
    const options = { hubUid, recorded: [] };
    await claims.admit(younger, 'uid', options);
    let isAdmitted = false;
    const admitted = claims.admit(older, 'uid', options).then(() => {
      isAdmitted = true;
    });
    await settle();
    assert.deepEqual([younger.restarts, isAdmitted], [['younger'], false]);
    await assert.rejects(claims.admit(younger, 'uid', options), olderIs('older'));
    younger.endWork();
    await admitted;
  });

  test('a Cluster that is another cluster by now leaves the one before to others', async () => {
    const claims = new UidClaims();
    const [older, younger] = [memberOf('older', 1), memberOf('younger', 2)];
    const options = { hubUid, recorded: [] };
    await claims.admit(older, 'uid', options);
    await claims.admit(older, 'another uid', options);
    await claims.admit(younger, 'uid', options);
    assert.deepEqual(older.restarts, []);
  });
});
