import type { RuleSection } from './rule.ts';

const queue = 'src/controller/work-queue.test.ts';
const limiter = 'src/reconcile/attempt/limiter.test.ts';
const reload = 'test/integration/reload.test.ts';
const held = 'test/integration/deletions-held.test.ts';
const maps = 'test/integration/configmap-source.test.ts';
const files = 'test/integration/sources.test.ts';
const objects = 'test/integration/definition-objects.test.ts';
const shown = 'test/integration/definitions-shown.test.ts';
const decide = 'src/runtime/definitions/decide.test.ts';

export const controller: RuleSection = {
  heading: 'Controller',
  page: 'controller.md',
  rules: [
    {
      rule: '`concurrency`: as many resources at once, never the same one twice',
      shownBy: [
        'src/controller/controller.test.ts › works on as many keys at once as its concurrency says',
        `${queue} › never gives one key to two workers, and runs it exactly once more`,
      ],
    },
    {
      rule: '`limits.steps` and `limits.cpu`: a resource that has used them up gets `LimitReached` with the number, and rests; others are served meanwhile',
      shownBy: [
        'src/definition/parse-definitions.test.ts › limits are an integer, a quantity and a duration',
        'src/compile/language/work-budget.test.ts › all evaluations of a reconcile share a number of steps',
        'src/compile/language/work-budget.test.ts › CPU time is the last resort',
        'src/reconcile/attempt/pace-limits.test.ts › beyond them the rest grows from 5 s to 5 min',
        'src/reconcile/attempt/pace-limits.test.ts › an edit makes the rest short',
        'test/attacks/time.test.ts › it is limited, and others are served meanwhile',
      ],
    },
    {
      rule: '`limits.memory`: what is rendered beyond it fails with the number, and the resource rests; all reconciles together hold a quarter of the heap',
      shownBy: [
        'test/attacks/memory.test.ts › many children with copies of a long field',
        'src/compile/language/work-budget.test.ts › rendered bytes are limited',
        'src/compile/language/work-budget.test.ts › a small reconcile never waits for memory',
        'src/util/byte-semaphore.test.ts › as many hold some as fit',
      ],
    },
    {
      rule: '`resync` runs each resource',
      shownBy: ['test/integration/schedule.test.ts › resync runs every resource once in a while'],
    },
    {
      rule: '`namespaces.include` and `exclude`',
      shownBy: [
        'test/integration/schedule.test.ts › only resources of the namespaces that are served are worked on',
      ],
    },
    {
      rule: 'Resources in the namespace of the runtime are served only where `include` names it',
      shownBy: [
        'src/reconcile/watch/served-resources.test.ts › resources in the namespace of the runtime',
        'test/attacks/placement-namespaces.test.ts › a resource in the namespace of the runtime is served only where the definition names it',
      ],
    },
    {
      rule: '`retry.initial`, `max` and `permanent`',
      shownBy: [
        `${queue} › delays double from 5 ms to 1000 s and are reset by forget`,
        `${limiter} › retry.permanent has it sent again`,
      ],
    },
    {
      rule: '`rollout.perSecond`: existing resources follow at its pace, new and edited ones at once',
      shownBy: [
        `${reload} › existing resources follow a changed template at the pace; a new and an edited one take it at once`,
        'src/runtime/rollout/rollout-pacer.test.ts',
      ],
    },
    {
      rule: '`rollout.stopAfterFailures`: so many that fail and did not before stop it; the others keep what they have',
      shownBy: [
        `${reload} › a change that breaks every resource breaks ten of them, and the corrected one heals`,
      ],
    },
    {
      rule: '`rollout.maxDeletions`: a change that would delete more deletes nothing before it is approved',
      shownBy: [
        `${held} › a change that would delete 200 objects deletes none before it is approved`,
        `${held} › as many as are allowed go without a word, one more and none does`,
        `${held} › with maxDeletions: 0 a change that deletes nothing goes on, and one that deletes waits`,
        `${held} › after a restart it is still held, and nothing was deleted meanwhile`,
        'src/reconcile/preview/preview-model.test.ts',
      ],
    },
    {
      rule: 'Settings of a definition that runs are taken without a restart',
      shownBy: [
        `${reload} › settings are taken without a restart, and a definition that goes and comes back goes on`,
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
      rule: 'A directory: `--definitions DIR`; also a mounted volume whose symlink is swapped',
      shownBy: [
        'test/integration/mistakes.test.ts › is printed with line, column and hint, and nothing is sent to the cluster',
        `${files} › a directory is followed: saved, broken, mended, removed and added files`,
        `${files} › a mounted volume that the kubelet swaps is followed`,
      ],
    },
    {
      rule: 'ConfigMaps by their label: all keys that end in `.yaml`, `.yml` or `.json`',
      shownBy: [
        `${maps} › all run as soon as it is there, and their resources work`,
        `${maps} › one is edited: existing resources follow, and nobody asks for kinds that did not change`,
      ],
    },
    {
      rule: 'A ConfigMap that carries `homeostat.dev/owner-uid` is never a source',
      shownBy: [
        `${maps} › a ConfigMap that is made for a resource is no source, nor one without the label`,
      ],
    },
    {
      rule: '`OperatorDefinition` objects that users make',
      shownBy: [
        `${files} › an OperatorDefinition that a user makes runs, tells its mistakes by their path, and stops when it goes`,
        `${shown} › an object of a user is served from itself, and pauses by an annotation`,
      ],
    },
    {
      rule: 'Texts are published as objects; their `spec` is put back and what was edited never runs; they go with their text',
      shownBy: [
        `${objects} › an edit of a published object is put back and never runs, additions too; what may be marked stays`,
        `${objects} › a published object that loses its labels gets them back while its text is there`,
        `${objects} › a published object that is deleted by hand comes back, and its definition does not stop`,
        `${objects} › a forged object never runs, whatever it says of itself`,
        `${objects} › a definition stops and goes with its text, and what it has made stays`,
      ],
    },
    {
      rule: 'A deleted definition stays until no resource carries its finalizer, or `homeostat.dev/abandon` lets go of them',
      shownBy: [
        `${objects} › a deleted definition waits while a resource has its finalizer, and lets go of what is abandoned`,
      ],
    },
    {
      rule: 'Two runtimes with different names leave each other alone',
      shownBy: [
        `${objects} › two runtimes with different names leave each other alone, and a name that both have is reported`,
      ],
    },
    {
      rule: 'What a user applies over a published object belongs to the user when the text goes',
      shownBy: ['test/integration/definition-hand-over.test.ts'],
    },
    {
      rule: 'Conditions `Accepted` with every diagnostic, `KindAvailable`, `Permitted`, `Running` and `Ready`',
      shownBy: [
        'src/runtime/definitions/definition-conditions.test.ts',
        shown,
        'test/integration/definitions-permitted.test.ts',
      ],
    },
    {
      rule: 'Each document is accepted or refused by itself, and one that does not parse leaves all as they were',
      shownBy: [
        'src/runtime/publish/parsed-manifest.test.ts',
        'src/runtime/publish/manifest-reader.test.ts',
      ],
    },
    {
      rule: 'The same name from two sources: the older keeps it, the other is told and takes over when it goes',
      shownBy: [
        `${maps} › two ConfigMaps with one name: the older keeps it, the other takes over when it goes`,
        `${files} › one name in a directory and in a ConfigMap: who was there first keeps it, and gives it on`,
      ],
    },
    {
      rule: 'A mistake keeps the last good revision and says so',
      shownBy: [
        `${maps} › one gets a typo: it is told with line and column, and what ran goes on`,
        `${reload} › a change that the cluster refuses leaves what runs as it is, and says why`,
      ],
    },
    {
      rule: 'A change takes effect without a restart: informers of new kinds first, kinds that are not used any more are released, others get no request',
      shownBy: [
        `${reload} › kinds come and go: what is new is watched and made, what is dropped goes and is not watched any more, and others get no request`,
        `${reload} › of fifty changes in a row the last one wins, and nothing is left of the others`,
      ],
    },
    {
      rule: 'A pass that has begun ends with the revision it began with',
      shownBy: [
        `${reload} › a pass that has begun ends with the revision it began with, and the end is the new one`,
      ],
    },
    {
      rule: 'The accepted revision is kept in the status, and a restart with a broken text continues with it',
      shownBy: [
        `${objects} › a broken apply while no process runs: the accepted revision runs after the start`,
        decide,
        `${files} › a restart with a broken text starts from the last good revision, and tells what is refused`,
        `${reload} › after a restart in the middle resources keep what they have until they are reached`,
      ],
    },
    {
      rule: 'Half-written, empty or missing input never deletes anything',
      shownBy: [
        `${maps} › it is emptied, deleted, made again under another name: controllers stop and go on, and nothing is deleted`,
        'src/runtime/publish/manifest-reader.test.ts',
      ],
    },
    {
      rule: 'Of two definitions with the same `crd` the one whose name the CRD is labelled with keeps it',
      shownBy: [
        'test/integration/same-crd.test.ts › of two definitions with one CRD the first gets it, and after a restart the one whose it is keeps it, whatever their order',
      ],
    },
    {
      rule: 'A definition may be paused, and its deletions approved, on its object',
      shownBy: [
        'test/integration/definition-paused.test.ts',
        `${reload} › a definition that is paused does nothing, and catches up when it goes on`,
        'test/integration/deletions-approved.test.ts › what a changed text would delete is told on its object, held over a restart, and let go by the annotation',
      ],
    },
    {
      rule: 'A runtime without a definition that needs it has no right on Secrets',
      shownBy: [
        'test/integration/deploy-chart.test.ts › without definitions the runtime may read no Secret, and nothing is given wholesale',
      ],
    },
  ],
};
