import type { RuleSection } from './rule.ts';

const file = 'test/integration/history.test.ts';
const records = 'test/integration/history-records.test.ts';
const track = 'src/engine/reconcile/history/object-track.test.ts';
const recorder = 'src/engine/reconcile/history/history-recorder.test.ts';
const limits = 'src/engine/reconcile/history/record-writer.test.ts';
const restores = 'src/engine/reconcile/patch/restore.test.ts';
const faults = 'test/faults/history-faults.test.ts';

export const history: RuleSection = {
  heading: 'History',
  page: 'history.md',
  rules: [
    {
      rule: 'A read with `history` keeps each state and the deletion; the current state is no version',
      shownBy: [
        `${file} › each change and the deletion has its version`,
        'operators/tests/config-journal.yaml',
      ],
    },
    {
      rule: 'After downtime only the state found is recorded; nothing is sent when nothing changes or after a restart',
      shownBy: [
        `${file} › after a restart the states found are one version for all that was missed`,
        `${file} › nothing is sent when nothing changes, also after a restart`,
      ],
    },
    {
      rule: 'A changed definition records what has been seen before; after etcd is restored the older state is a new version',
      shownBy: [
        `${recorder} › states that wait when the resource gets another revision are recorded, in order`,
        `${recorder} › after etcd was restored from a backup the older state is a new version`,
        `${faults} › otherFaults.historyRestored.name`,
      ],
    },
    {
      rule: '`keep` limits the versions of an object; `keepDeleted` the time of those of a deleted one',
      shownBy: [
        `${file} › the oldest versions beyond "keep" are deleted`,
        `${recorder} › versions of a deleted object expire`,
        `${records} › versions that a lower "keep" drops count for "maxDeletions"`,
      ],
    },
    {
      rule: '`onChange` names the fields whose change creates a version',
      shownBy: [
        'src/engine/reconcile/history/recorded-state.test.ts › is the same version',
        `${records} › only fields of "onChange" create a version, and a record has the whole object`,
        'test/fixtures/invalid/history.yaml',
      ],
    },
    {
      rule: '`secrets: true` is required for Secrets, whose versions are Secrets',
      shownBy: [`${file} › versions of Secrets are Secrets, and are restored`],
    },
    {
      rule: 'More than 20 versions in 60 s are throttled',
      shownBy: [
        `${track} › more than 20 records in 60 s`,
        `${records} › more than 20 versions in a minute are throttled to the newest state, with an Event`,
      ],
    },
    {
      rule: 'An object over the limit is reported, not recorded, and not overwritten',
      shownBy: [
        `${file} › an object that is too large is reported and not recorded; a smaller state is`,
        `${file} › a restore of what is not recorded waits`,
        `${limits} › the newest record of an object is never deleted`,
      ],
    },
    {
      rule: 'Versions in other namespaces are deleted by a finalizer; a narrower scope is no deletion',
      shownBy: [
        `${file} › versions in other namespaces are deleted with the resource; a namespace that leaves the selector keeps them`,
      ],
    },
    {
      rule: 'A version counts only with a signature of the runtime; keys are neither read nor written by definitions',
      shownBy: [
        'test/attacks/history-records.test.ts › one in a namespace is not restored into a cluster-scoped object',
        'test/attacks/history-records.test.ts › the keys can be neither read nor written by a definition',
        'src/engine/reconcile/history/record-signature.test.ts › a record is authentic',
      ],
    },
    {
      rule: 'Versions of a release without signatures are signed once; a lost key needs an administrator',
      shownBy: [
        'test/integration/history-upgrade.test.ts › versions of a release without signatures are signed once',
        'test/integration/history-upgrade.test.ts › keys that are replaced are keys that are lost',
      ],
    },
    {
      rule: 'A patch with `once` is sent once for each value; `replace` removes fields; `create` restores a deleted object',
      shownBy: [
        `${file} › a changed object is restored exactly, once; the next edit stays`,
        `${file} › a deleted object is restored, and is not a child`,
      ],
    },
    {
      rule: 'A computed target is an object that the resource has recorded, in the scope of its read',
      shownBy: [
        'test/fixtures/invalid/restores.yaml',
        `${file} › forged records and taken names change nothing`,
        `${restores} › an object that has not been recorded`,
      ],
    },
    {
      rule: 'A restore waits until versions are listed and its target is recorded; a paused resource restores nothing',
      shownBy: [
        `${file} › a request that is there before the versions are listed is not lost`,
        `${file} › a paused resource records, and restores nothing`,
      ],
    },
  ],
};
