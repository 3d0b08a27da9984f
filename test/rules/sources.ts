import type { RuleSection } from './rule.ts';

const queue = 'src/engine/controller/work-queue.test.ts';
const rejections = 'src/engine/reconcile/ledger/rejections.test.ts';
const reload = 'test/integration/reload.test.ts';
const held = 'test/integration/deletions-held.test.ts';
const data = 'test/integration/data-deletions.test.ts';
const maps = 'test/integration/configmap-source.test.ts';
const files = 'test/integration/sources.test.ts';
const objects = 'test/integration/definition-objects.test.ts';
const shown = 'test/integration/definitions-shown.test.ts';
const members = 'test/integration/member-clusters.test.ts';
const decide = 'src/engine/runtime/definitions/decide.test.ts';

export const controller: RuleSection = {
  heading: 'Controller',
  page: 'controller.md',
  rules: [
    {
      rule: '`concurrency`: the number of resources that are reconciled at once; never the same one twice at once',
      shownBy: [
        'src/engine/controller/controller.test.ts › works on as many keys at once as its concurrency says',
        `${queue} › never gives one key to two workers, and runs it exactly once more`,
      ],
    },
    {
      rule: '`clusters.selector`: the definition runs in every matching member cluster, and not on the hub; a member that no longer matches keeps its objects',
      shownBy: [
        `${members} › labels start and stop a definition in a member; one name exists in two members`,
        `${members} › a changed definition is rolled out in every member, and older revisions are forgotten`,
        'test/fixtures/invalid/clusters.yaml',
      ],
    },
    {
      rule: '`limits.steps` and `limits.cpu`: a resource beyond them gets `LimitReached` with the number, and is delayed; others are served meanwhile',
      shownBy: [
        'src/engine/definition/parse-definitions.test.ts › limits are an integer, a quantity and a duration',
        'src/engine/compile/language/work-budget.test.ts › all evaluations of a reconcile share a number of steps',
        'src/engine/compile/language/work-budget.test.ts › CPU time is the last resort',
        'src/engine/reconcile/ledger/pace-limits.test.ts › beyond them the rest grows from 5 s to 5 min',
        'src/engine/reconcile/ledger/pace-limits.test.ts › an edit makes the rest short',
        'test/attacks/time.test.ts › it is limited, and others are served meanwhile',
      ],
    },
    {
      rule: '`limits.memory`: a reconcile beyond it fails with the number, and the resource is delayed; all reconciles together may use a quarter of the heap',
      shownBy: [
        'test/attacks/memory.test.ts › many children with copies of a long field',
        'src/engine/compile/language/work-budget.test.ts › rendered bytes are limited',
        'src/engine/compile/language/work-budget.test.ts › a small reconcile never waits for memory',
        'src/util/byte-semaphore.test.ts › as many hold some as fit',
      ],
    },
    {
      rule: '`resync` reconciles every resource periodically',
      shownBy: ['test/integration/schedule.test.ts › resync runs every resource once in a while'],
    },
    {
      rule: '`namespaces.include` and `exclude`',
      shownBy: [
        'test/integration/schedule.test.ts › only resources of the namespaces that are served are worked on',
      ],
    },
    {
      rule: 'Resources in the namespace of the runtime are served only if `include` names it',
      shownBy: [
        'src/engine/reconcile/watch/served-resources.test.ts › resources in the namespace of the runtime',
        'test/attacks/placement-namespaces.test.ts › a resource in the namespace of the runtime is served only where the definition names it',
        'test/integration/guarded-namespaces.test.ts › resources in the namespace of the runtime are left alone, which the log says once for each definition',
      ],
    },
    {
      rule: '`retry.initial`, `max` and `permanent`',
      shownBy: [
        `${queue} › delays double from 5 ms to 1000 s and are reset by forget`,
        `${rejections} › retry.permanent has it sent again`,
      ],
    },
    {
      rule: '`rollout.perSecond`: existing resources are reconciled at this rate, new and edited ones at once',
      shownBy: [
        `${reload} › existing resources follow a changed template at the pace; a new and an edited one take it at once`,
        'src/engine/runtime/rollout/rollout-pacer.test.ts',
      ],
    },
    {
      rule: '`rollout.stopAfterFailures`: after this number of new failures the roll-out stops; the other resources keep the previous revision',
      shownBy: [
        `${reload} › a change that breaks every resource breaks ten of them, and the corrected one heals`,
      ],
    },
    {
      rule: '`rollout.maxDeletions`: a change that would delete more objects deletes none until it is approved',
      shownBy: [
        `${held} › a change that would delete 200 objects deletes none before it is approved`,
        `${held} › as many as are allowed go without a word, one more and none does`,
        `${held} › with maxDeletions: 0 a change that deletes nothing continues, and one that deletes waits`,
        `${held} › after a restart it is still held, and nothing was deleted meanwhile`,
        'src/engine/reconcile/preview/preview-model.test.ts',
      ],
    },
    {
      rule: 'An object that holds data (by its kind, or `holdsData`) is deleted or recreated by a changed definition only with approval',
      shownBy: [
        `${data} › a claim that a definition renames is kept until its deletion is approved`,
        `${data} › an object of a removed child is kept if it was declared to hold data`,
        `${data} › a claim that was declared to hold no data is deleted like any object`,
        `${data} › a claim that a changed template would recreate is kept until that is approved`,
        `${data} › an element that a user removes from the resource takes its claim with it`,
        'src/engine/definition/data-kinds.test.ts',
      ],
    },
    {
      rule: 'Settings of a running definition change without a restart',
      shownBy: [
        `${reload} › settings are taken without a restart, and a definition that is deleted and comes back continues`,
      ],
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
  heading: 'Sources',
  page: 'sources.md',
  rules: [
    {
      rule: 'A directory: `--definitions DIR`; also a mounted volume whose symlink is replaced',
      shownBy: [
        'test/integration/mistakes.test.ts › is printed with line, column and hint, and nothing is sent to the cluster',
        `${files} › a directory is followed: saved, broken, mended, removed and added files`,
        `${files} › a mounted volume that the kubelet swaps is followed`,
      ],
    },
    {
      rule: 'ConfigMaps with the label: all keys that end in `.yaml`, `.yml` or `.json`',
      shownBy: [
        `${maps} › all run as soon as it is there, and their resources work`,
        `${maps} › one is edited: existing resources follow, and no request is sent for kinds that did not change`,
      ],
    },
    {
      rule: 'A ConfigMap with `homeostat.dev/owner-uid` is never a source',
      shownBy: [
        `${maps} › a ConfigMap that is made for a resource is no source, nor one without the label`,
      ],
    },
    {
      rule: '`OperatorDefinition` objects that users create',
      shownBy: [
        `${files} › an OperatorDefinition that a user makes runs, reports its errors by their path, and stops when it is deleted`,
        `${shown} › an object of a user is served from itself, and pauses by an annotation`,
      ],
    },
    {
      rule: 'Manifests are published as objects; an edit of their `spec` is reverted and never runs; they are deleted with their manifest',
      shownBy: [
        `${objects} › an edit of a published object is reverted and never runs, additions too; what may be marked stays`,
        `${objects} › a published object that loses its labels gets them back while its text is there`,
        `${objects} › a published object that is deleted by hand comes back, and its definition does not stop`,
        `${objects} › a forged object never runs, whatever it says of itself`,
        `${objects} › a definition stops and is deleted with its manifest, and what it has created stays`,
      ],
    },
    {
      rule: 'A deleted definition stays until no resource has its finalizer, or until `homeostat.dev/abandon` releases them',
      shownBy: [
        `${objects} › a deleted definition waits while a resource has its finalizer, and releases what is abandoned`,
      ],
    },
    {
      rule: 'Two runtimes with different names do not change definitions of each other',
      shownBy: [
        `${objects} › two runtimes with different names leave each other alone, and a name that both have is reported`,
      ],
    },
    {
      rule: 'A published object that a user applies belongs to the user when the manifest is removed',
      shownBy: ['test/integration/definition-hand-over.test.ts'],
    },
    {
      rule: 'Conditions `Accepted` with every diagnostic, `KindAvailable`, `Permitted`, `Running` and `Ready`',
      shownBy: [
        'src/engine/runtime/definitions/definition-conditions.test.ts',
        shown,
        'test/integration/definitions-permitted.test.ts',
      ],
    },
    {
      rule: 'Each document is accepted or rejected separately; a file that does not parse changes nothing',
      shownBy: [
        'src/engine/runtime/publish/parsed-manifest.test.ts',
        'src/engine/runtime/publish/manifest-reader.test.ts',
      ],
    },
    {
      rule: 'The same name from two sources: the older one keeps it, the other one is reported and takes over when the first is removed',
      shownBy: [
        `${maps} › two ConfigMaps with one name: the older keeps it, the other takes over when it is deleted`,
        `${files} › one name in a directory and in a ConfigMap: who was there first keeps it, and gives it on`,
      ],
    },
    {
      rule: 'An error keeps the last valid revision and is reported',
      shownBy: [
        `${maps} › one gets a typo: it is reported with line and column, and what ran continues`,
        `${reload} › a change that the cluster rejects leaves what runs as it is, and says why`,
      ],
    },
    {
      rule: 'A change takes effect without a restart: informers of new kinds start first, informers of unused kinds stop, other kinds get no request',
      shownBy: [
        `${reload} › kinds are added and removed: what is new is watched and created, what is dropped is deleted and no longer watched, and others get no request`,
        `${reload} › of fifty changes in a row the last one wins, and nothing is left of the others`,
      ],
    },
    {
      rule: 'A reconcile that has begun ends with the revision it began with',
      shownBy: [
        `${reload} › a pass that has begun ends with the revision it began with, and the end is the new one`,
      ],
    },
    {
      rule: 'The accepted revision is kept in the status; a restart with an invalid manifest continues with it',
      shownBy: [
        `${objects} › a broken apply while no process runs: the accepted revision runs after the start`,
        decide,
        `${files} › a restart with a broken text starts from the last good revision, and reports what is rejected`,
        `${reload} › after a restart in the middle resources keep what they have until they are reached`,
      ],
    },
    {
      rule: 'Truncated, empty or missing input never deletes anything',
      shownBy: [
        `${maps} › it is emptied, deleted, made again under another name: controllers stop and continue, and nothing is deleted`,
        'src/engine/runtime/publish/manifest-reader.test.ts',
      ],
    },
    {
      rule: 'Of two definitions with the same `crd`, the one in the label of the CRD keeps it',
      shownBy: [
        'test/integration/same-crd.test.ts › of two definitions with one CRD the first gets it, and after a restart the one whose it is keeps it, whatever their order',
      ],
    },
    {
      rule: 'Annotations of its object pause a definition and approve its deletions',
      shownBy: [
        'test/integration/definition-paused.test.ts',
        `${reload} › a definition that is paused does nothing, and catches up when it continues`,
        'test/integration/deletions-approved.test.ts › what a changed text would delete is reported on its object, held over a restart, and released by the annotation',
      ],
    },
    {
      rule: 'A runtime has no right on Secrets unless a definition needs it',
      shownBy: [
        'test/integration/deploy-chart.test.ts › without definitions the runtime may read no Secret, and nothing is given wholesale',
      ],
    },
  ],
};
