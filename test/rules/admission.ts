import type { RuleSection } from './rule.ts';

const file = 'test/integration/admission.test.ts';
const defaults = 'test/integration/admission-defaults.test.ts';
const plan = 'test/integration/plan-admission.test.ts';
const check = 'src/authoring/testing/validation/admission/check-admission.test.ts';

export const admission: RuleSection = {
  heading: 'Rules and defaults that the API server enforces',
  page: 'admission.md',
  rules: [
    {
      rule: 'A rule of `admission` rejects a request with its message and field, and costs nothing at rest',
      shownBy: [`${file} › a rule rejects with its field and message, and nothing is sent at rest`],
    },
    {
      rule: 'Its expression is checked with the schema: names, types, and values that may be missing',
      shownBy: [`${check} › a value that may be missing needs a guard`],
    },
    {
      rule: 'Forms that have no meaning are rejected',
      shownBy: [
        'test/fixtures/invalid/admission.yaml',
        'test/fixtures/invalid/admission-defaults.yaml',
      ],
    },
    {
      rule: 'A rule is checked when what it reads changes, and never for an object that is being deleted',
      shownBy: [
        `${file} › an object that breaks a newer rule can be annotated, paused, finalized and deleted, but not changed`,
        `${file} › a rule applies only to changes of what it reads, beside a rule that reads more`,
        `${file} › the label that a rule reads cannot be removed, other labels can be changed`,
        'src/engine/compile/admission/metadata-reads.test.ts',
      ],
    },
    {
      rule: 'A rule is for its `operations`, and one for deletions blocks neither the end of a namespace nor the garbage collector',
      shownBy: [
        `${file} › a rule for deletions holds for users, and neither blocks the end of a namespace nor the garbage collector`,
        'test/integration/admission-collectors.test.ts › the garbage collector deletes an object that a rule keeps from users, when its owner is deleted',
      ],
    },
    {
      rule: 'Requests to `scale` do not reach a rule, and `validate` says so',
      shownBy: [
        `${file} › "scale" does not reach a rule, as "validate" says`,
        `${check} › a rule over the replicas of a kind with "scale" has a warning`,
      ],
    },
    {
      rule: 'With the `action` `Warn` or `Audit`, requests are permitted',
      shownBy: [`${file} › "Warn" warns and permits, "Audit" permits`],
    },
    {
      rule: 'Policies follow the definition: edits of others are reverted, and those of another owner are not taken',
      shownBy: [
        `${file} › a changed rule replaces the former one, and without rules nothing is left`,
        `${file} › a policy that another one edits or deletes is restored`,
        `${file} › a policy of another owner is not taken`,
        `${file} › a rule that a server cannot compile is named in "Ready"`,
      ],
    },
    {
      rule: 'Rules stay while the definition is withdrawn, and end with it, first',
      shownBy: [
        `${file} › a definition whose manifest is removed keeps its rules, also without the runtime`,
        `${file} › a deleted definition takes its rules with it, and keeps its resources`,
        `${file} › at an uninstall the rules end first, so that they deny nothing of it`,
      ],
    },
    {
      rule: 'Of a kind of others (`for`), only what the definition selects is checked, by default with the `failurePolicy` `Ignore`',
      shownBy: [`${file} › of a kind of others, only what the definition selects is checked`],
    },
    {
      rule: 'A default sets a field that a request leaves out, with its parents, before the rules',
      shownBy: [
        `${defaults} › a value is set where a request leaves it out, from the first request on, and nothing is sent at rest`,
        `${defaults} › parents are created and existing ones are kept; keys are escaped; a later value sees earlier ones`,
        `${defaults} › a parent without fields is kept, and the schema decides about it`,
        `${defaults} › an object with "generateName" has no name yet`,
        `${defaults} › defaults for another stored version wait until its schema is read`,
        `${defaults} › the first default for a custom kind of others waits for its schema, too`,
        `${defaults} › rules see the values of defaults, and hold before them`,
        `${defaults} › of a kind of others, only what the definition selects gets values, also constant ones`,
        'src/authoring/testing/validation/admission/check-defaults.test.ts',
        'src/engine/definition/admission-path.test.ts',
        'src/authoring/testing/admission.test.ts',
      ],
    },
    {
      rule: 'Defaults are set with a change of the `spec`, and never in an object that is being deleted',
      shownBy: [
        `${defaults} › a removed value is set again; what changes nothing in the spec leaves an older object as it is`,
      ],
    },
    {
      rule: 'Defaults follow the definition, and a value that fails is reported',
      shownBy: [
        `${defaults} › without defaults nothing is left, and a value that fails rejects the request`,
        `${defaults} › a value that the server cannot compile is named in "Ready", and the rules hold`,
      ],
    },
    {
      rule: '`homeostat plan` lists the existing objects that break a new or stricter rule',
      shownBy: [
        `${plan} › the objects that break a new rule are listed, up to a limit and with their number, and nothing is sent for them`,
        `${plan} › what the cluster enforces already is not listed, a stricter rule or action is`,
      ],
    },
  ],
};
