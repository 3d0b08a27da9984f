import type { RuleSection } from './rule.ts';

const prune = 'src/engine/reconcile/run/prune.test.ts';
const tier = 'src/engine/reconcile/child/apply-tiers.test.ts';
const hold = 'src/engine/reconcile/child/after.test.ts';
const phase = 'src/engine/compile/phase/phase.test.ts';
const forEach = 'src/engine/compile/phase/for-each.test.ts';
const apply = 'src/engine/reconcile/child/apply-element.test.ts';
const podset = 'test/integration/podset.test.ts';

export const children: RuleSection = {
  heading: 'Children',
  page: 'children.md',
  rules: [
    {
      rule: 'A child is created and owned; edits of others are reverted, and a deleted child is created again',
      shownBy: [
        `${podset} › a PodSet becomes a Deployment that it owns, and an edit follows`,
        `${podset} › a Deployment that is edited or scaled by hand is reverted`,
        `${podset} › a Deployment that is deleted by hand comes back`,
      ],
    },
    {
      rule: 'A Job that removes itself after it has finished runs once for each intent, also after a restart; `runs` decides for other children',
      shownBy: [
        'test/integration/run-once.test.ts › a Job that removes itself runs once; its resource stays ready, and a restart writes nothing',
        'test/integration/run-once.test.ts › a changed resource runs it again',
        'src/engine/reconcile/child/run-to-completion.test.ts › "runs: Once" counts without a time to live',
      ],
    },
    {
      rule: '`prune: AfterReady`, the default for ConfigMaps and Secrets with `$hash` in the name: an object that is no longer desired is deleted when all children are ready with updated Pods',
      shownBy: [
        'test/integration/prune-after-ready.test.ts › an earlier ConfigMap stays until a roll-out that may be stuck is complete, over restarts and reverts',
        'src/engine/reconcile/run/prune.test.ts › what is pruned after readiness stays while another child is not ready',
        'src/engine/compile/analysis/prune-time.test.ts',
        'src/util/readiness/updated-pods.test.ts',
      ],
    },
    {
      rule: '`kinds`: the template chooses its kind from a list; another kind is created, then the previous object is deleted; a kind that is not listed is an error of the child',
      shownBy: [
        'test/integration/kind-from-list.test.ts › an object has the kind that the expression returns, and another kind replaces it',
        'test/integration/kind-from-list.test.ts › a kind that is not in the list is an error of the child, and keeps what is there',
        'test/fixtures/invalid/kinds.yaml',
        'test/fixtures/invalid-compile/kinds.yaml',
      ],
    },
    {
      rule: 'Names under `homeostat.dev/` cannot be computed, nor the keys of a manifest or its metadata',
      shownBy: [
        'src/engine/compile/phase/phase.test.ts › users who create a resource cannot set reserved names',
        'test/fixtures/invalid/forbidden-expression.yaml',
      ],
    },
    {
      rule: '`generateName` and labels or annotations under `homeostat.dev/` are rejected',
      shownBy: ['test/fixtures/invalid/invalid-value.yaml'],
    },
    {
      rule: '`metadata.namespace` defaults to that of the resource; another one needs `crossNamespace`',
      shownBy: [
        'test/fixtures/invalid/child-namespaces.yaml',
        'test/fixtures/invalid-compile/scope.yaml',
        'test/integration/scope.test.ts › a namespace that the definition does not allow is rejected, and what is there stays',
      ],
    },
    {
      rule: '`when: false` removes the child; `children` in `when` gives a warning',
      shownBy: [
        `${prune} › what is no longer desired is deleted`,
        'test/fixtures/invalid-compile/warnings.yaml',
      ],
    },
    {
      rule: '`forEach` creates one child per element; two elements with one name are an error',
      shownBy: [
        'test/integration/chain.test.ts › forEach over three makes three, and back to one removes two',
        `${tier} › two elements of one name fail, and no other child does`,
      ],
    },
    {
      rule: '`ordered`: the next element is created when the previous one is ready',
      shownBy: [
        'test/integration/ordered.test.ts › ordered: up one by one, each when the one before is ready, and down from the last',
        'src/engine/reconcile/child/apply-child.test.ts › an element is made when the one before it is ready, and the wait is reported',
      ],
    },
    {
      rule: '`ordered`: elements are removed one at a time from the last, in a deletion too',
      shownBy: [
        'test/integration/deletion.test.ts › elements of an ordered child go one by one from the last, each when the one before is gone',
        'src/engine/reconcile/finalize/without-definition.test.ts › an orphan stays, and elements of an ordered child go from the last',
      ],
    },
    {
      rule: '`after` names children that must be ready first; objects that expressions read must exist',
      shownBy: [
        `${hold} › a child is made when what it comes after is ready, and the wait is reported`,
        'test/integration/chain.test.ts › a chain of three children is made in one pass, without a timer',
      ],
    },
    {
      rule: '`after` with `element: same`: an element waits for those with its key in the other child, not for all of them; without one of its key it waits',
      shownBy: [
        'test/integration/element-order.test.ts › each group starts its workers when its own leader is ready',
        `${hold} › each element waits for that of its key, and for no other`,
        `${hold} › an element without one of its key waits, and keeps what it has`,
        'test/fixtures/invalid/after-same.yaml',
        'test/fixtures/invalid-compile/after-same.yaml',
      ],
    },
    {
      rule: '`gate`: while it is false, an existing object is not changed but for drift; a missing one is created, and one that is no longer desired is deleted',
      shownBy: [
        'test/integration/element-order.test.ts › an object is changed when its gate opens, and nothing is sent before',
        'src/engine/reconcile/child/apply-gated.test.ts › a missing object is created, and an existing one changed only while its gate is open',
        'src/engine/reconcile/child/apply-gated.test.ts › drift is reverted meanwhile, and nothing is sent otherwise',
        'test/fixtures/invalid/gate.yaml',
        'test/fixtures/invalid-compile/gate.yaml',
      ],
    },
    {
      rule: '`ready` computes readiness from `$child`',
      shownBy: [`${phase} › \`ready\` sees $child and $item; without a result it is false`],
    },
    {
      rule: '`updateStrategy: Apply` updates in place',
      shownBy: [
        `${apply} › a value that a user changed is reverted by one apply that names it`,
        `${apply} › a field that leaves the intent is removed`,
      ],
    },
    {
      rule: '`Recreate` replaces the child for a new template value, reverts drift by an apply, and ignores fields of other managers',
      shownBy: [
        'test/integration/children-life.test.ts › Recreate: a changed intent creates the object again; drift is reverted, foreign fields stay',
      ],
    },
    {
      rule: '`Recreate` replaces a child with drift in an immutable field at most once in ten minutes',
      shownBy: [
        'src/engine/reconcile/child/replace-element.test.ts › drift of a field that cannot be changed creates the object again, once in ten minutes for one intent',
        'test/integration/children-life.test.ts › Recreate: what the server does not let change is replaced, a Secret without a hash of its values',
      ],
    },
    {
      rule: '`OnDelete` creates missing children and never changes existing ones',
      shownBy: [
        'test/integration/children-life.test.ts › OnDelete: what is there is left alone, what is deleted comes back with the newest template',
      ],
    },
    {
      rule: '`RecreateIfImmutable` applies in place, and replaces the object only if the server rejects the change of an immutable field; `cascade: Orphan` keeps the dependents, which the new object adopts',
      shownBy: [
        'test/integration/recreate-if-immutable.test.ts › a StatefulSet whose volumes grow is created again, and its Pods stay',
        'src/engine/reconcile/child/replace-element.test.ts › a change that the server accepts is applied in place, an immutable one creates the object again',
        'test/fixtures/invalid/life.yaml',
      ],
    },
    {
      rule: '`cascade` of a child says what happens to the dependents of a deleted object, also with its resource, and when the definition no longer has the child',
      shownBy: [
        'test/integration/recreate-if-immutable.test.ts › the Pods of a child that the definition no longer has stay',
        'src/engine/reconcile/removal/cascade.test.ts',
      ],
    },
    {
      rule: '`rollingUpdate`: `maxUnavailable`, and it stops at an element that does not become ready',
      shownBy: [
        'test/integration/ordered.test.ts › rollingUpdate: stops at an element that does not become ready, also after a restart; a better template continues',
        'test/integration/ordered.test.ts › rollingUpdate: one after the other, from the last, each when the one before is ready',
      ],
    },
    {
      rule: '`rollingUpdate` with `maxSurge`: elements with other names are created beside the earlier ones, which are deleted when enough are ready, also after a restart and with other revisions in between',
      shownBy: [
        'test/integration/ordered.test.ts › maxSurge: an earlier Pod is deleted when its successor is ready, over restarts, reverts and deletions',
        'src/engine/reconcile/child/apply-surging.test.ts',
        'test/integration/plan.test.ts › a surge is planned: what is created now, what waits, and what is deleted in the end',
        'test/fixtures/invalid-compile/surge.yaml',
      ],
    },
    {
      rule: '`rollingUpdate`: `partition` and `order`',
      shownBy: [
        'test/integration/ordered.test.ts › rollingUpdate: elements below the partition keep what they have',
        'src/engine/reconcile/child/apply-child.test.ts › is sent ${what}',
      ],
    },
    {
      rule: '`fields.leave`: a new object gets the value of the template, an existing one keeps its own, also after a restart and with `Recreate`; a missing field is set again',
      shownBy: [
        'test/integration/fields-left.test.ts › what an autoscaler or another manager sets is kept, over changes and a restart',
        'test/integration/fields-left.test.ts › fields that nobody has taken over keep their value when something else changes, and belong to no manager then',
        'test/integration/fields-left.test.ts › a field that is removed is set again from the template',
        'src/engine/reconcile/child/left-fields.test.ts › with Recreate, a change of it recreates nothing, and a new object keeps the values of the old one',
        'test/fixtures/invalid/left-fields.yaml',
        'test/fixtures/invalid-compile/left-fields.yaml',
      ],
    },
    {
      rule: '`conflicts: Force` takes fields back; `Report` leaves them to the other manager and reports them',
      shownBy: [
        'test/integration/fights.test.ts › with conflicts: Report a field that another manager takes is left to it, and is ours again when it gives it up',
        `${podset} › a Deployment that is edited or scaled by hand is reverted`,
      ],
    },
    {
      rule: '`adopt: Never` changes no existing object of another owner, and creates the child when that object is deleted',
      shownBy: [
        'test/integration/conflict.test.ts › a Deployment of the same name that is not ours is left alone, and when it is deleted the PodSet continues',
      ],
    },
    {
      rule: '`adopt: IfUnowned` takes over objects without a controller, and orphans them unless `Delete` is set',
      shownBy: [
        'test/integration/children-life.test.ts › an object without an owner is adopted, and released when the resource is deleted',
        'test/integration/children-life.test.ts › with `deletionPolicy: Delete` written what was taken over has an owner like any other',
        'test/integration/children-life.test.ts › what another controller owns is left alone, and taken when it gives it up',
      ],
    },
    {
      rule: '`deletionPolicy: Orphan` keeps the object when the child is removed or the resource is deleted',
      shownBy: [
        'test/integration/deletion.test.ts › stays as it is, and is ours no more',
        'src/engine/reconcile/removal/removal.test.ts › one that is dropped stays, with nothing of us on it',
      ],
    },
    {
      rule: '`Recreate` deletes no object that existed before the resource',
      shownBy: [
        'src/engine/reconcile/child/replace-element.test.ts › an object that was there before us',
        'src/engine/reconcile/child/adopt.test.ts › with Recreate it is changed in place, also when the intent changes',
      ],
    },
    {
      rule: '`deleteWhen` delays the deletion of a child and reports it',
      shownBy: [
        'test/integration/deletion.test.ts › a child that says when it may go stays until then, and says so',
      ],
    },
    {
      rule: '`after` and waiting delay creation and changes; drift is reverted meanwhile',
      shownBy: [
        `${hold} › a change of intent is held, and released when that is ready`,
        `${hold} › drift of what was applied is repaired meanwhile`,
        `${hold} › nothing is deleted because it is held`,
      ],
    },
    {
      rule: 'An object is a child by its place, its name and its owner reference or the inventory; labels and field managers prove nothing',
      shownBy: [
        'src/engine/reconcile/ownership/placement-rule.test.ts › is not observed, though it is the newest',
        'src/engine/reconcile/ownership/placement-rule.test.ts › keeps no resource from being deleted',
        'test/attacks/placement-ownership.test.ts › becomes the password of a resource',
        'test/attacks/placement-ownership.test.ts › no object with a foreign finalizer keeps a resource from being deleted',
        'test/integration/conflict.test.ts › an object that another user labelled like ours is neither changed nor deleted',
      ],
    },
    {
      rule: 'Children are pruned one by one: a child that waits or fails keeps its object',
      shownBy: [
        `${prune} › deletes nothing`,
        `${prune} › a child that fails keeps no other child from losing its own`,
      ],
    },
    {
      rule: 'A missing path never deletes anything',
      shownBy: [
        'test/integration/missing-table.test.ts › nothing is deleted, and the child is',
        'test/integration/missing.test.ts › the children of "',
      ],
    },
    {
      rule: 'Children that the definition no longer has are deleted when the whole reconcile succeeded',
      shownBy: [`${prune} › a child that was dropped from the definition`],
    },
    {
      rule: 'Limits: elements, children, size of a child and of a text',
      shownBy: [
        `${tier} › are rejected`,
        `${forEach} › more than 1,000 elements are rejected`,
        `${phase} › a child and a string of more than 1 MiB are rejected, and one text may have as much as a child`,
      ],
    },
    {
      rule: 'Readiness follows the kind',
      shownBy: [
        'src/util/readiness/workload-readiness.test.ts',
        'src/util/readiness/pod-readiness.test.ts',
        'src/util/readiness/provision-readiness.test.ts',
        'src/util/readiness/api-readiness.test.ts',
        'src/util/readiness/readiness-of.test.ts',
      ],
    },
  ],
};
