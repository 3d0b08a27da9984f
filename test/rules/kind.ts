import type { RuleSection } from './rule.ts';

const parse = 'src/engine/definition/parse-definitions.test.ts';
const complete = 'src/engine/definition/crd/complete-crd.test.ts';
const crd = 'test/integration/crd.test.ts';
const crdLife = 'test/integration/crd-life.test.ts';

export const document: RuleSection = {
  heading: 'The document',
  page: 'README.md#the-document',
  rules: [
    {
      rule: 'A definition has `apiVersion`, `kind`, `metadata.name` and `spec`; other fields are rejected',
      shownBy: [
        'test/fixtures/invalid/not-a-definition.yaml',
        'test/fixtures/invalid/missing-field.yaml',
      ],
    },
    {
      rule: 'YAML and JSON are equivalent',
      shownBy: [
        'test/fixtures/invalid/one-line.json',
        'src/engine/definition/yaml/yaml-text.test.ts › JSON is YAML, and empty input is null',
      ],
    },
    {
      rule: 'The name is a DNS label of at most 63 characters',
      shownBy: ['test/fixtures/invalid/invalid-name.yaml'],
    },
    {
      rule: 'Ids match `^[a-z][A-Za-z0-9]{0,39}$`',
      shownBy: ['test/fixtures/invalid/invalid-name.yaml'],
    },
    { rule: 'Ids are unique', shownBy: ['test/fixtures/invalid/duplicate-id.yaml'] },
    {
      rule: 'Unknown fields are rejected everywhere',
      shownBy: ['test/fixtures/invalid/unknown-field.yaml'],
    },
    {
      rule: '`acceptedWarnings` has the `code` of a warning and a reason: the warning is not reported; errors are',
      shownBy: [
        'src/engine/check/accepted-warnings.test.ts › every warning of all fixtures can be accepted at its place',
        'src/engine/check/accepted-warnings.test.ts › errors cannot be accepted, and hide entries that accept nothing',
        'test/integration/definitions-shown.test.ts',
      ],
    },
    {
      rule: 'The revision is the first ten hex digits of a hash of the `spec` with defaults',
      shownBy: [
        `${parse} › is ten hex digits`,
        `${parse} › is the same whatever`,
        `${parse} › changes with a value`,
      ],
    },
    {
      rule: 'A file may hold several documents; each is accepted or rejected separately',
      shownBy: [`${parse} › each document is accepted or rejected on its own`],
    },
    {
      rule: 'A truncated file is never accepted as another definition',
      shownBy: [`${parse} › a truncated file is never accepted as a different definition`],
    },
  ],
};

export const kind: RuleSection = {
  heading: 'Kind',
  page: 'kind.md',
  rules: [
    { rule: 'Exactly one of `crd` and `for`', shownBy: ['test/fixtures/invalid/crd-and-for.yaml'] },
    {
      rule: '`crd` is a CustomResourceDefinitionSpec: an existing one can be pasted',
      shownBy: ['test/fixtures/valid/pasted-crd.yaml', `${crd} › the server takes the CRDs of`],
    },
    {
      rule: '`crd.metadata` gives labels and annotations; a protected group needs its approval',
      shownBy: [
        `${complete} › labels and annotations go to the metadata`,
        'test/fixtures/invalid/crd-versions.yaml',
      ],
    },
    {
      rule: 'A conversion webhook is passed to the CRD; `caBundle` belongs to whichever controller writes it',
      shownBy: [
        'test/fixtures/invalid/crd-conversion.yaml',
        'test/integration/conversion-webhook.test.ts',
      ],
    },
    {
      rule: 'Omitted names, flags and the status subresource are filled in',
      shownBy: [`${complete} › omitted names, flags and the status subresource are filled in`],
    },
    {
      rule: 'Standard status fields are added; another schema of `status.children` is rejected with a hint',
      shownBy: [
        `${complete} › a schema without a status gets the standard fields`,
        'test/fixtures/invalid/crd-pasted.yaml',
      ],
    },
    {
      rule: '`Ready`, `Reason` and `Age` are appended to the printer columns',
      shownBy: [`${complete} › columns [`],
    },
    {
      rule: 'Structural rules are checked before any request, with the results of the server',
      shownBy: [
        'test/fixtures/invalid/crd-schema.yaml',
        'test/fixtures/invalid/crd-nested.yaml',
        `${crd} › we and the server agree about`,
      ],
    },
    {
      rule: 'The CRD is installed by server-side apply, and installed again after a deletion',
      shownBy: [
        `${crdLife} › a CRD that is deleted under the process is installed again, and its resources work`,
      ],
    },
    {
      rule: 'A CRD without the label of Homeostat is not changed',
      shownBy: [
        'test/integration/conflict.test.ts › a custom resource definition that is not ours is not touched',
        `${crdLife} › a CRD that a user takes over is left to them`,
      ],
    },
    {
      rule: '`crdPolicy.adopt` takes over an existing CRD',
      shownBy: [
        'test/integration/conflict.test.ts › with crdPolicy.adopt a custom resource definition that is there is taken over, and what it stores is worked on',
      ],
    },
    {
      rule: 'A CRD change that would break stored objects is rejected with all reasons, and the previous revision keeps running; `crdPolicy.allowBreakingChanges` overrides it',
      shownBy: [
        'test/integration/crd-change.test.ts › a change that breaks is rejected with all its reasons, what ran continues; with the override it is accepted',
        'test/integration/crd-change.test.ts › a CRD of others is not taken over where that would break what they have stored',
      ],
    },
    {
      rule: 'A safe change of the CRD takes effect without a restart',
      shownBy: [
        'test/integration/crd-change.test.ts › a new optional field is served at once, without a restart',
        'test/integration/crd-change-server.test.ts › what was stored before a safe change is read as it was and written again after it, for random schemas',
      ],
    },
    {
      rule: 'The storage version can change',
      shownBy: [
        'test/integration/versions.test.ts › another version is stored from now on: what was made stays, and is read in that one',
        'test/integration/versions.test.ts › resources are stored again in the new version, then the old one can be taken out; before that it is rejected',
      ],
    },
    {
      rule: 'With several versions, expressions are checked against the storage version, and the resource is read in it',
      shownBy: [
        'test/fixtures/invalid-compile/storage-version.yaml',
        'test/integration/versions.test.ts › a resource written in another version is read in the one that is stored',
      ],
    },
    {
      rule: '`for` uses an existing kind, with `selector` and `annotationSelector`',
      shownBy: [
        'test/integration/for.test.ts › a built-in kind gets children, and nothing is written to it',
        'src/engine/reconcile/for-kind.test.ts › an object that does not match gets none',
        'test/fixtures/invalid/for-kind.yaml',
      ],
    },
    {
      rule: 'Several definitions may share a kind by `for`',
      shownBy: [
        'test/integration/for.test.ts › definitions of one kind work beside each other, and each releases its own',
        'src/engine/check/check-definitions.test.ts › any number of definitions share a kind that is there',
      ],
    },
    {
      rule: 'For a kind of `for`, only mapped status fields are written, and only one definition may map the status',
      shownBy: [
        'test/integration/for-kind-arrives.test.ts › what is mapped is fitted to the schema that the server reports, and nothing else is written',
        'src/engine/check/check-definitions.test.ts › a status is mapped by one of them only',
        'test/fixtures/invalid-compile/for-no-status.yaml',
      ],
    },
    {
      rule: 'An object that stops matching loses its children',
      shownBy: [
        'test/integration/for.test.ts › an object that stopped matching meanwhile loses its children',
        'src/engine/reconcile/for-kind.test.ts › loses its children, and has them again when they match',
      ],
    },
    {
      rule: 'Objects that stop matching because the definition was edited keep their children',
      shownBy: [
        'test/integration/for.test.ts › a definition that was edited leaves them in place and says how many',
      ],
    },
    {
      rule: 'A definition waits until its kind of `for` exists',
      shownBy: [
        'test/integration/for-kind-arrives.test.ts › a definition waits for its kind, without asking, and starts by itself when it comes',
        'test/integration/for-kind-arrives.test.ts › a kind that is deleted is waited for again, and comes back',
      ],
    },
  ],
};
