import type { RuleSection } from './rule.ts';

const report = 'src/engine/reconcile/report/build-report.test.ts';
const write = 'src/engine/reconcile/report/write-report.test.ts';
const rejections = 'src/engine/reconcile/ledger/rejections.test.ts';
const queue = 'src/engine/controller/work-queue.test.ts';
const elements = 'src/engine/reconcile/patch/apply-elements.test.ts';
const ownedPatches = 'src/engine/reconcile/patch/owned-patches.test.ts';
const deletionPatches = 'src/engine/reconcile/patch/deletion-patches.test.ts';
const ownedModel = 'src/engine/reconcile/patch/owned-model.test.ts';

export const reporting: RuleSection = {
  heading: 'Reporting',
  page: 'reporting.md',
  rules: [
    {
      rule: '`status` is mapped and converted to its schema; it can read the status last written',
      shownBy: [
        'src/engine/compile/phase/phase.test.ts › status reads the last written status and is coerced to its schema',
        'test/integration/foobar.test.ts › a FooBar runs its command in a Job, and its status remembers the completion',
      ],
    },
    {
      rule: '`conditions` are written with type, status, reason and message',
      shownBy: [
        'test/integration/reporting.test.ts › conditions follow the new status, keep their time, and Events report each switch once',
        'test/fixtures/invalid/reporting.yaml',
      ],
    },
    {
      rule: '`events` are sent in the reconcile in which `when` is true',
      shownBy: [
        'test/integration/operator-air-conditioner.test.ts › each switch has an Event, and only a switch',
        'src/engine/reconcile/report/reporting.test.ts › are reported in the pass in which `when` is true, and not again',
      ],
    },
    {
      rule: '`patches` of the resource itself are sent only if a field differs, and are never withdrawn',
      shownBy: [
        'test/integration/reporting.test.ts › the resource itself is patched once per request, by a manager of the patch',
        'src/engine/reconcile/patch/patches.test.ts › is not withdrawn when `when` turns false, and is sent again when it is true again',
      ],
    },
    {
      rule: 'A patch with `withdraw` or `conflicts` removes what only it owns when it no longer applies, whatever happens meanwhile',
      shownBy: [
        'test/integration/withdrawn-patches.test.ts › fields that only the patch owns are removed when it no longer applies',
        `${ownedModel} › only what others own is left after`,
        `${ownedPatches} › is recorded with the finalizer before it is applied, and costs nothing when it is as desired`,
        `${ownedPatches} › does not create a target that is gone`,
      ],
    },
    {
      rule: 'A patch with `status: true` writes the status of another object through its subresource',
      shownBy: [
        'src/engine/reconcile/patch/status-patches.test.ts › is sent to the subresource, only when it differs, and stays',
        'test/fixtures/invalid/owned-patches.yaml',
      ],
    },
    {
      rule: 'A patch with `forEach` has a target for each element; it is withdrawn from that of an element that is removed',
      shownBy: [
        `${elements} › records all elements in one request before the first apply, and costs nothing when they are as desired`,
        `${elements} › an element that is removed is withdrawn, one that moves is left as it is`,
        `${elements} › two elements with one target fail, others are applied`,
        `${elements} › more elements than can be recorded are an error before anything is sent`,
        'test/integration/withdrawn-patches.test.ts › each target of a list is patched, an element that is removed is withdrawn, and the last values stay',
        'test/fixtures/invalid/targets-of-patches.yaml',
        'test/fixtures/invalid-compile/targets-of-patches.yaml',
      ],
    },
    {
      rule: 'A patch with `delete: true` deletes one object, once for each value of `once`, and no other one of its name',
      shownBy: [
        'src/engine/reconcile/patch/delete-target.test.ts › a process that ends at any request deletes one object only',
        'test/integration/withdrawn-patches.test.ts › a status of another object is set and withdrawn, and an object is deleted once',
        'test/fixtures/invalid/owned-patches.yaml',
      ],
    },
    {
      rule: 'A patch with `at: Deletion` is sent in the deletion of the resource, before its children are deleted',
      shownBy: [
        `${deletionPatches} › sets the finalizer first, costs nothing while the resource lives, and is sent before the children are deleted`,
        `${deletionPatches} › a process that ends at any request has it sent, and its values are those of the beginning`,
        `${deletionPatches} › a missing right keeps the children, is reported, and can be skipped`,
        'test/integration/deletion-patches.test.ts › is sent once in the deletion, before the children are deleted',
        'test/fixtures/invalid/patches-at-deletion.yaml',
      ],
    },
    {
      rule: '`patches` of other objects: `target` and `create`',
      shownBy: [
        'test/integration/reporting.test.ts › another object is patched, its drift reverted, left with what is not patched, and waited for',
        'test/integration/reporting.test.ts › create makes the target; nothing is withdrawn when `when` turns false or the resource is deleted',
      ],
    },
    {
      rule: 'A patch may not touch the status of the resource',
      shownBy: ['test/fixtures/invalid/reporting.yaml'],
    },
    {
      rule: 'Patches, status, Events are written in this order',
      shownBy: [
        'src/engine/reconcile/report/reporting.test.ts › are reported once, when the status that they report is written',
      ],
    },
    {
      rule: 'A reconcile writes the status at most once, and only if something changed',
      shownBy: [
        'test/integration/requests.test.ts › a new PodSet costs two requests: one apply and one status write',
        `${report} › a status that the server keeps otherwise than written is not written again`,
      ],
    },
    {
      rule: 'The standard fields and conditions are written; conditions of other managers stay',
      shownBy: [
        `${report} › says what it is about: generation, revision, counts`,
        `${report} › a condition of another manager stays`,
        `${report} › conditions change their time only with their status`,
      ],
    },
    {
      rule: '`status.children` has at most 100 entries, those that are not ready first',
      shownBy: [
        `${report} › at most 100 children are listed, unready first, then in definition order`,
      ],
    },
    {
      rule: 'Mapping a standard field under `status` is an error',
      shownBy: ['test/fixtures/invalid/invalid-value.yaml'],
    },
    {
      rule: 'Messages name child, field and reason, and never contain a value of a Secret',
      shownBy: [
        'test/integration/rejections.test.ts › where a Secret is used, neither a value nor a key of it is reported, whatever the server quotes',
        'src/engine/compile/phase/phase.test.ts › no message contains a value of a Secret',
        'test/attacks/secret-values.test.ts › derived,',
        'test/attacks/secret-values.test.ts › of the resource itself,',
      ],
    },
    {
      rule: 'A status that the server rejects is reported, and everything else is done',
      shownBy: [
        `${write} › keeps the last values of the author's fields, and says that a user has to act`,
      ],
    },
  ],
};

export const again: RuleSection = {
  heading: 'When a resource is reconciled',
  page: 'controller.md#when-a-resource-is-reconciled',
  rules: [
    {
      rule: 'A change of a value that is read reconciles the resource; other changes cost no request',
      shownBy: [
        'src/engine/reconcile/watch/watches.test.ts › of a child, a change of',
        'test/integration/requests.test.ts › a label that no expression reads costs nothing',
      ],
    },
    {
      rule: 'When nothing changes there is no request, also after a restart',
      shownBy: [
        'test/integration/requests.test.ts › 200 idle PodSets cost nothing in a minute',
        'test/integration/requests.test.ts › a restart with 200 PodSets lists and watches, and writes nothing',
      ],
    },
    {
      rule: 'For a kind without `metadata.generation` any field counts',
      shownBy: ['test/integration/for.test.ts › any field of a kind without generations counts'],
    },
    {
      rule: 'A reconcile caused by the writes of the previous one sends nothing if nothing changed',
      shownBy: [
        'src/engine/reconcile/ledger/pace-follow-ups.test.ts › a status field that a template reads runs the resource again at once, and only once',
      ],
    },
    {
      rule: 'A resource that reconciles because of its own writes is delayed more and more, with condition `Unstable` and the path',
      shownBy: [
        'test/integration/unstable.test.ts › a resource that runs because of what it writes itself says so with the path, slows down, and recovers',
      ],
    },
    {
      rule: 'After 20 reconciles with writes in 60 s: at most one every 10 s',
      shownBy: [
        'src/engine/reconcile/ledger/pace.test.ts › after 20 passes that wrote within 60 s a resource runs every 10 s at most, whatever enqueues it, and says so',
        'test/integration/unstable.test.ts › two definitions that feed each other are slowed down, say so, and recover',
      ],
    },
    {
      rule: '`schedule.every`, spread by 10 %',
      shownBy: [
        'test/integration/schedule.test.ts › schedule.every runs a resource again and again',
        'src/engine/reconcile/ledger/due.test.ts › every 30s comes',
      ],
    },
    {
      rule: '`schedule.cron` with `timeZone`',
      shownBy: [
        'test/integration/schedule.test.ts › schedule.cron runs all resources at its times',
        'src/engine/reconcile/ledger/cron-timer.test.ts › it is due at each time of the schedule',
        'test/fixtures/invalid/schedule.yaml',
      ],
    },
    {
      rule: '`requeueAfter`',
      shownBy: [
        'test/integration/schedule.test.ts › requeueAfter runs a resource as long as it gives a duration',
        'src/engine/reconcile/report/reporting.test.ts › runs the resource again after the duration, as often as it says so',
      ],
    },
    {
      rule: 'A comparison with the time is reconciled when its result changes',
      shownBy: [
        'src/engine/reconcile/report/time-changes.test.ts › templates, elements, vars, the status and conditions follow the time, too',
        'src/engine/compile/language/present/time-flips.test.ts › before the change that is found, no result differs',
      ],
    },
    {
      rule: '`schedule.cron` with an expression: each resource has its own schedule',
      shownBy: [
        'src/engine/reconcile/report/time-changes.test.ts › a resource has a schedule of its own',
      ],
    },
    {
      rule: '`homeostat.dev/reconcile-at` reconciles the resource',
      shownBy: [
        'test/integration/schedule.test.ts › a change of homeostat.dev/reconcile-at runs a resource that rests',
      ],
    },
    {
      rule: '`homeostat.dev/paused` stops it, deletion included',
      shownBy: [
        'test/integration/schedule.test.ts › a paused resource is not changed, reports it once, and continues when the annotation is removed',
        'test/integration/schedule.test.ts › a paused resource is not even released',
        'test/integration/for.test.ts › a paused object that stops matching keeps its children until it is resumed',
      ],
    },
    {
      rule: 'A permanent failure is retried when the resource, a read, a right or the kind changes, otherwise every `retry.permanent`',
      shownBy: [
        `${rejections} › a change of the intent has it sent again`,
        `${rejections} › a change of a read has it sent again, and one that nothing reads has not`,
        `${rejections} › retry.permanent has it sent again`,
        'test/integration/rights.test.ts › a write that is not allowed says which right is missing, and continues by itself when it is given',
      ],
    },
    {
      rule: 'A temporary failure is retried with growing delays',
      shownBy: [
        `${queue} › delays double from 5 ms to 1000 s and are reset by forget`,
        'src/engine/reconcile/failure.test.ts › a 403 with a retry hint is temporary',
      ],
    },
  ],
};

export const deletion: RuleSection = {
  heading: 'Deletion',
  page: 'deletion.md',
  rules: [
    {
      rule: '`deleteAfter`: a resource deletes itself, `ttl` after `since`, in the state that was seen; pause and the guard of a changed definition hold it',
      shownBy: [
        'src/engine/reconcile/expiry/delete-after.test.ts › a resource is deleted at its time, without reconciles before, and an Event says why',
        'src/engine/reconcile/expiry/delete-after.test.ts › only the state that was seen is deleted: an edit that makes it longer wins',
        'src/engine/reconcile/expiry/delete-after.test.ts › a guard of a changed definition holds it, and counts what is deleted with it',
        'test/integration/delete-after.test.ts › a resource deletes itself, with what it has created',
      ],
    },
    {
      rule: 'There is no finalizer unless one is needed: the garbage collector deletes the children',
      shownBy: [
        'test/integration/podset.test.ts › deleting the PodSet removes the Deployment through the garbage collector',
      ],
    },
    {
      rule: 'A finalizer that is needed, and the inventory, are written before the first child',
      shownBy: [
        'src/engine/reconcile/child/ensure-finalizer.test.ts › a new resource costs one apply for it, one for each child, and one for the status that has the inventory',
        'src/engine/reconcile/ownership/placement-rule.test.ts › all that is added at once is put there in one write before it is made, and taken off when it is gone',
        'test/integration/scope.test.ts › children of elsewhere are made, in a resource that waits for us, with labels only; afterwards nothing is sent',
      ],
    },
    {
      rule: 'A child in another namespace is deleted with its owner, also after a restart',
      shownBy: [
        'test/integration/scope.test.ts › they are deleted with their owner, and the owner when they are deleted',
        'test/integration/scope.test.ts › they go also when no process runs when their owner was deleted',
        'test/integration/operator-config-copy.test.ts › copies go with their owner, though it lives in another namespace, also when it is deleted while no process runs',
      ],
    },
    {
      rule: 'Deletion works when the definition was deleted or cannot start',
      shownBy: [
        'test/integration/scope.test.ts › they go also when their definition is gone',
        'src/engine/runtime/running/running-definition.test.ts › one that stops leaves what it has made, and brings deletions to their end',
      ],
    },
    {
      rule: 'A deletion with `--cascade=orphan` keeps the children and releases them',
      shownBy: [
        'test/integration/deletion.test.ts › a deletion that was asked to orphan leaves the children where they are, and they are ours no more',
        'src/engine/reconcile/finalize/orphaning.test.ts › also when another process continues with it',
      ],
    },
    {
      rule: 'In a deletion, a kind that could not be listed is never taken for empty',
      shownBy: ['src/engine/reconcile/finalize/unknown-lists.test.ts'],
    },
    {
      rule: 'The inventory is in the status; only kinds that the definition has or had are searched',
      shownBy: [
        'src/engine/reconcile/finalize/inventory-watch.test.ts › are not watched when the definition never had children of them',
        'src/engine/reconcile/finalize/inventory-watch.test.ts › are not those that its author writes into an annotation',
        'src/engine/reconcile/finalize/inventory-watch.test.ts › in an annotation is removed once there is one in the status, and all its objects are still found',
        'test/attacks/placement-ownership.test.ts › no author has the runtime watch a kind, or delete of it',
      ],
    },
    {
      rule: 'A child that lost its labels while no process ran is found',
      shownBy: [
        'src/engine/reconcile/ownership/placement-rule.test.ts › and was dropped before one runs again is deleted, by',
        'test/attacks/placement-ownership.test.ts › a child that lost its labels while no process ran, and that the definition has dropped, is deleted',
      ],
    },
    {
      rule: 'Deletion works when the definition is broken',
      shownBy: [
        'test/integration/scope.test.ts › they go also when their definition is broken meanwhile',
        'src/engine/reconcile/finalize/without-definition.test.ts › labels and inventory are enough',
      ],
    },
    {
      rule: '`onDelete.children` are created first, and the deletion waits for them',
      shownBy: [
        'test/integration/deletion.test.ts › what onDelete makes is made first and waited for; then the children go, dependents first',
        'test/integration/operator-database.test.ts › a backup is made before the database is deleted',
      ],
    },
    {
      rule: '`onDelete.order`: Reverse or Parallel',
      shownBy: [
        'test/integration/deletion.test.ts › what onDelete makes is made first and waited for; then the children go, dependents first',
        'src/engine/reconcile/finalize/on-delete.test.ts › with "order: Parallel" the children go at once, and what it has made last',
      ],
    },
    {
      rule: '`onDelete.timeout` and `onTimeout`: Wait or Continue',
      shownBy: [
        'test/integration/deletion.test.ts › a deletion that takes too long says so and continues waiting',
        'test/integration/deletion.test.ts › a deletion that takes too long continues without, where the definition says so',
      ],
    },
    {
      rule: '`homeostat.dev/skip-on-delete: "true"` skips steps that cannot run',
      shownBy: [
        'test/integration/deletion.test.ts › without its definition a deletion with onDelete waits, until it is asked to do without',
      ],
    },
    {
      rule: 'In a terminating namespace `onDelete.children` are skipped',
      shownBy: [
        'test/integration/deletion.test.ts › a namespace with such resources in it comes to its end',
        'src/engine/reconcile/finalize/on-delete.test.ts › in a namespace on its way out nothing is made, and nothing waited for',
      ],
    },
    {
      rule: 'Objects of a kind that the definition no longer uses are deleted, also after a restart',
      shownBy: [
        'test/integration/scope.test.ts › a kind that the definition has dropped is cleaned up after a restart, and then forgotten',
      ],
    },
    {
      rule: 'When a definition is deleted, its controller stops, and its children and its CRD stay',
      shownBy: [
        'test/integration/definition-removal.test.ts › without a word of Delete everything stays, and the object waits for resources that are still to be released',
        'test/integration/configmap-source.test.ts › it is emptied, deleted, made again under another name: controllers stop and continue, and nothing is deleted',
      ],
    },
    {
      rule: 'No resource is blocked by the finalizer, also after a `for` definition was deleted while no process ran',
      shownBy: [
        'test/integration/definition-removal.test.ts › a definition of a kind of others that is gone when the next process starts leaves no finalizer',
      ],
    },
    {
      rule: '`removalPolicy: Delete` deletes the children of all resources',
      shownBy: [
        'test/integration/definition-removal.test.ts › with removalPolicy Delete the children of all resources go; the resources and the CRD stay',
        'test/integration/definition-removal.test.ts › objects of a kind of others lose their children and stay',
      ],
    },
    {
      rule: '`crdPolicy.deletion: Delete` deletes the CRD and its resources, never a CRD that was taken over',
      shownBy: [
        'test/integration/definition-removal.test.ts › with crdPolicy.deletion Delete the CRD is deleted with all resources, onDelete first',
        'test/integration/definition-removal.test.ts › a CRD that was taken over is never deleted',
      ],
    },
    {
      rule: 'Both apply only when a user deletes an `OperatorDefinition` that a user created, also when the process is killed meanwhile',
      shownBy: [
        'test/integration/definition-removal.test.ts › a file that vanishes takes nothing along, whatever it says',
        'test/integration/definition-removal.test.ts › when the kind of all definitions is deleted everything stays',
        'test/integration/definition-removal.test.ts › both go, children under their guards; a process that is killed on the way is followed by another that continues',
        'test/integration/definition-objects.test.ts › a definition stops and is deleted with its manifest, and what it has created stays',
      ],
    },
  ],
};
