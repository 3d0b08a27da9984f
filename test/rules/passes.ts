import type { RuleSection } from './rule.ts';

const report = 'src/reconcile/report/build-report.test.ts';
const write = 'src/reconcile/report/write-report.test.ts';
const refusals = 'src/reconcile/pass/refusals.test.ts';
const queue = 'src/controller/work-queue.test.ts';

export const reporting: RuleSection = {
  heading: '5. A pass, and what is written back',
  rules: [
    {
      rule: '`status` is mapped and fitted; it sees the status last written, so a definition can remember',
      shownBy: [
        'src/compile/phase/phase.test.ts › status sees the status last written and is fitted to its schema',
        'test/integration/foobar.test.ts › a FooBar runs its command in a Job, and its status remembers the completion',
      ],
    },
    { rule: '`conditions` are written with type, status, reason and message', shownBy: [] },
    { rule: '`events` are sent in the pass in which `when` is true', shownBy: [] },
    {
      rule: '`patches` on the resource itself, only if a field differs, never withdrawn',
      shownBy: [],
    },
    { rule: '`patches` on others: `target` and `create`', shownBy: [] },
    { rule: 'A patch may not touch the status of the resource', shownBy: [] },
    { rule: 'Patches, status, Events are written in this order', shownBy: [] },
    {
      rule: 'One status write per pass, and only if something changed',
      shownBy: [
        'test/integration/requests.test.ts › a new PodSet costs two requests: one apply and one status write',
        `${report} › a status that the server keeps otherwise than written is not written again`,
      ],
    },
    {
      rule: 'The standard fields and conditions are written; a condition of somebody else stays',
      shownBy: [
        `${report} › says what it is about: generation, revision, counts`,
        `${report} › a condition of somebody else stays`,
        `${report} › conditions change their time only with their status`,
      ],
    },
    {
      rule: '`status.children` has at most 100 entries, unready first',
      shownBy: [
        `${report} › at most 100 children are listed, unready first, then in definition order`,
      ],
    },
    {
      rule: 'Mapping a standard field under `status` is an error',
      shownBy: ['test/fixtures/invalid/invalid-value.yaml'],
    },
    {
      rule: 'Messages name child, field and reason, and never a Secret value',
      shownBy: [
        'test/integration/refusals.test.ts › where a Secret is used, neither a value nor a key of it is told, whatever the server quotes',
        'src/compile/phase/phase.test.ts › no value of one stands in a message, by whatever way it comes there',
      ],
    },
    {
      rule: 'A status that the server refuses is told without stopping the rest',
      shownBy: [
        `${write} › keeps the last values of the author's fields, and says that somebody has to act`,
      ],
    },
  ],
};

export const again: RuleSection = {
  heading: '6. When a resource runs again',
  rules: [
    {
      rule: 'A change of a value that is read runs the resource; another one costs nothing',
      shownBy: [
        'src/reconcile/wake/watches.test.ts › of a child, a change of',
        'test/integration/requests.test.ts › a label that no expression reads costs nothing',
      ],
    },
    {
      rule: 'At rest there is no request, also after a restart',
      shownBy: [
        'test/integration/requests.test.ts › 200 PodSets at rest cost nothing in a minute',
        'test/integration/requests.test.ts › a restart with 200 PodSets lists and watches, and writes nothing',
      ],
    },
    { rule: 'For a kind without `metadata.generation` any field counts', shownBy: [] },
    {
      rule: 'Writes of the pass itself count: a follow-up that changes nothing costs nothing',
      shownBy: [
        'src/reconcile/pass/follow-up.test.ts › a status field that a template reads runs the resource again at once, and only once',
      ],
    },
    {
      rule: 'What runs because of itself backs off, `Unstable`, with the path',
      shownBy: [
        'test/integration/unstable.test.ts › a resource that runs because of what it writes itself says so with the path, slows down, and recovers',
      ],
    },
    {
      rule: '20 writing passes in 60 s: every 10 s at most',
      shownBy: [
        'src/reconcile/pass/restraint.test.ts › after 20 passes that wrote within 60 s a resource runs every 10 s at most, whoever wakes it, and says so',
        'test/integration/unstable.test.ts › two definitions that feed each other are slowed down, say so, and recover',
      ],
    },
    { rule: '`schedule.every`, spread by 10 %', shownBy: [] },
    { rule: '`schedule.cron` with `timeZone`', shownBy: [] },
    { rule: '`requeueAfter`', shownBy: [] },
    { rule: '`homeostat.dev/reconcile-at` runs it', shownBy: [] },
    { rule: '`homeostat.dev/paused` stops it, deletion included', shownBy: [] },
    {
      rule: 'A permanent failure is tried again for a new intent, read, right or kind, else every `retry.permanent`',
      shownBy: [
        `${refusals} › a change of the intent has it sent again`,
        `${refusals} › a change of a read has it sent again, and one that nobody reads has not`,
        `${refusals} › retry.permanent has it sent again`,
        'test/integration/rights.test.ts › a write that is not allowed says which right is missing, and goes on by itself when it is given',
      ],
    },
    {
      rule: 'A temporary failure is tried again with growing delays',
      shownBy: [
        `${queue} › delays double from 5 ms to 1000 s and are reset by forget`,
        'src/reconcile/failure.test.ts › a 403 with a retry hint is temporary',
      ],
    },
  ],
};

export const deletion: RuleSection = {
  heading: '7. Deletion',
  rules: [
    {
      rule: 'Without a need there is no finalizer: the garbage collector does the work',
      shownBy: [
        'test/integration/podset.test.ts › deleting the PodSet removes the Deployment through the garbage collector',
      ],
    },
    {
      rule: 'Where one is needed, finalizer and inventory are written before the first child',
      shownBy: [],
    },
    { rule: 'A child in another namespace goes with its owner, also after a restart', shownBy: [] },
    { rule: 'Deletion works when the definition is broken', shownBy: [] },
    { rule: '`onDelete.children` are made first, and waited for', shownBy: [] },
    { rule: '`onDelete.order`: Reverse or Parallel', shownBy: [] },
    { rule: '`onDelete.timeout` and `onTimeout`: Wait or Continue', shownBy: [] },
    { rule: '`homeostat.dev/skip-on-delete: "true"` skips what cannot run', shownBy: [] },
    { rule: 'In a terminating namespace `onDelete.children` are skipped', shownBy: [] },
    {
      rule: 'A kind that the definition no longer uses is cleaned up, also after a restart',
      shownBy: [],
    },
  ],
};

export const controller: RuleSection = {
  heading: '8. The controller',
  rules: [
    {
      rule: '`concurrency`: as many resources at once, never the same one twice',
      shownBy: [
        'src/controller/controller.test.ts › works on as many keys at once as its concurrency says',
        `${queue} › never gives one key to two workers, and runs it exactly once more`,
      ],
    },
    { rule: '`resync` runs each resource', shownBy: [] },
    { rule: '`namespaces.include` and `exclude`', shownBy: [] },
    {
      rule: '`retry.initial`, `max` and `permanent`',
      shownBy: [
        `${queue} › delays double from 5 ms to 1000 s and are reset by forget`,
        `${refusals} › retry.permanent has it sent again`,
      ],
    },
    {
      rule: '`rollout`: `perSecond`, `stopAfterFailures`, `maxDeletions`',
      shownBy: [],
      isLater: true,
    },
    {
      rule: 'A slow or failing definition does not slow down another',
      shownBy: [
        'test/integration/isolation.test.ts › good resources are made and follow edits beside a failing and a hot definition',
      ],
    },
  ],
};

export const sources: RuleSection = {
  heading: '9. Where definitions come from, and hot reload',
  rules: [
    {
      rule: 'A directory: `--definitions DIR`',
      shownBy: [
        'test/integration/mistakes.test.ts › is printed with line, column and hint, and nothing is sent to the cluster',
      ],
    },
    {
      rule: 'Of two definitions with the same `crd` the one whose name the CRD is labelled with keeps it',
      shownBy: [],
    },
    {
      rule: 'ConfigMaps and `OperatorDefinition` objects as sources, mirrors, hot reload, revisions that are kept, `removalPolicy: Delete`',
      shownBy: [],
      isLater: true,
    },
  ],
};
