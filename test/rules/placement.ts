import type { RuleSection } from './rule.ts';

const placed = 'src/engine/reconcile/members/placed-children.test.ts';
const histories = 'src/engine/reconcile/members/member-histories.test.ts';
const onSandboxes = 'src/authoring/simulation/placed-objects.test.ts';
const wrong = 'test/fixtures/invalid/placement.yaml';

export const placement: RuleSection = {
  heading: 'Member clusters',
  page: 'placement.md',
  rules: [
    {
      rule: 'A computed `cluster` needs `crossCluster`; its `selector` is literal and not empty',
      shownBy: [wrong],
    },
    {
      rule: 'A member outside `crossCluster` is an error that deletes nothing',
      shownBy: [`${placed} › a member outside crossCluster is an error that keeps the objects`],
    },
    {
      rule: 'Desired objects may use the metadata of a Cluster and its condition `Connected`, not the rest of its status',
      shownBy: ['test/fixtures/invalid-compile/clusters.yaml'],
    },
    {
      rule: 'Nothing is written to a member that is not usable, and its objects stay as they are',
      shownBy: [
        `${histories} › a member that is not usable is never written to, and all converge`,
        `${placed} › keeps what it has, and the others are changed`,
        `${placed} › is not pruned, though the definition selects connected members only`,
      ],
    },
    {
      rule: 'No other member waits for it: not for `after`, sequences or pruning',
      shownBy: [
        `${placed} › "after" counts the elements of the same member`,
        `${placed} › a member that cannot be used holds up no other with`,
        `${placed} › pruning in one member does not wait for another one`,
      ],
    },
    {
      rule: 'Status fields that read it keep their last values',
      shownBy: [
        `${placed} › the last value is kept`,
        `${onSandboxes} › a member without a connection keeps what it has, and catches up`,
      ],
    },
    {
      rule: 'A child whose `cluster` changes is created in the new member first',
      shownBy: [
        `${placed} › the object is created there first, then removed`,
        `${placed} › the object stays while the new cluster cannot be used`,
      ],
    },
    {
      rule: 'The record of a member is written before the first object in it, and no kill of the process leaves an object behind',
      shownBy: [
        `${placed} › the record of the cluster is written before the first object in it`,
        'src/engine/reconcile/members/killed.test.ts › leaves nothing behind and nothing out',
      ],
    },
    {
      rule: 'A deletion waits for members on record and searches those that are allowed',
      shownBy: [
        `${placed} › waits for a member that cannot be used, and names it`,
        `${placed} › searches allowed members too: the record on the resource can be edited`,
      ],
    },
    {
      rule: 'A deleted or replaced Cluster gives its objects up',
      shownBy: [
        `${placed} › a deleted Cluster gives its objects up`,
        `${placed} › that is another cluster by now is given up`,
      ],
    },
    {
      rule: 'An object of another hub is a conflict, also with `adopt`',
      shownBy: [`${placed} › is a conflict, also with adopt`],
    },
    {
      rule: 'A definition without `cluster` has the same requests and watches as without members',
      shownBy: [`${placed} › a definition without placement has the same requests and watches`],
    },
  ],
};
