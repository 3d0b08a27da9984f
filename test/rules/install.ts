import type { RuleSection } from './rule.ts';

const install = 'test/integration/install.test.ts';
const wrong = 'test/fixtures/invalid/install.yaml';
const wrongExpressions = 'test/fixtures/invalid-compile/install.yaml';

export const installed: RuleSection = {
  heading: 'Objects of the definition',
  page: 'install.md',
  rules: [
    {
      rule: 'Objects of `install` read `definition.metadata`, and reads and vars that need no resource',
      shownBy: [
        wrongExpressions,
        'src/engine/compile/install/compile-install.test.ts › it has only the vars and reads that its objects use',
      ],
    },
    {
      rule: 'Their namespaces are literal, and fields that need a resource are rejected',
      shownBy: [wrong],
    },
    {
      rule: 'They exist before the first resource, are on record in `status.install`, and cost nothing at rest',
      shownBy: [
        `${install} › objects exist before the first resource, are on record, and nothing is sent at rest`,
        `${install} › a restart writes nothing`,
      ],
    },
    {
      rule: 'Drift is reverted, and a deleted object is created again',
      shownBy: [
        `${install} › an edit of an object is reverted, and a deleted one is created again`,
      ],
    },
    {
      rule: 'An object that leaves `install`, is renamed or moves is deleted, within `maxDeletions`',
      shownBy: [
        `${install} › an object that leaves, is renamed or moves is deleted; the others stay`,
        `${install} › a definition without "install" any more deletes them, and its status forgets them`,
        `${install} › more deletions than "maxDeletions" wait for an approval, also after a restart`,
      ],
    },
    {
      rule: 'A rejected edit, a pause and a withdrawal change none of them',
      shownBy: [
        `${install} › a rejected edit keeps what is installed`,
        `${install} › a paused definition changes none of its objects`,
        `${install} › a definition whose manifest is removed keeps its objects`,
      ],
    },
    {
      rule: 'An object of another owner is never taken, also by a definition that is created again',
      shownBy: [
        `${install} › an object of another owner is not taken; when it is deleted, the definition continues`,
        `${install} › of two definitions that install the same object, the second one reports a conflict`,
        `${install} › a definition that is deleted and created again keeps its objects, and finds them again`,
        `${install} › an object that only carries the labels is not taken by a definition that is created again`,
      ],
    },
    {
      rule: 'With `removalPolicy: Delete` they are deleted after the children, and the definition last',
      shownBy: [
        `${install} › with "removalPolicy: Delete" they are deleted after the children, and the definition last`,
      ],
    },
    {
      rule: 'There are at most 200 of them; more are reported, and those that exist stay',
      shownBy: [
        wrong,
        `${install} › more objects than fit are reported, and those that exist stay`,
      ],
    },
    {
      rule: 'A kind that is not served yet is waited for',
      shownBy: [`${install} › a kind that is not served yet is waited for`],
    },
    {
      rule: 'Rights are limited to literal names, and `homeostat rights` says what roles, policies and webhooks mean',
      shownBy: ['src/engine/check/rights/install-rights.test.ts'],
    },
  ],
};
