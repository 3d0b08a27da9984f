import type { RuleSection } from './rule.ts';

const leaf = 'src/engine/compile/language/leaf-parser.test.ts';
const phase = 'src/engine/compile/phase/phase.test.ts';
const waiting = 'src/engine/compile/phase/phase-waiting.test.ts';
const forEach = 'src/engine/compile/phase/for-each.test.ts';
const compile = 'src/engine/compile/compile.test.ts';
const functions = 'src/engine/compile/language/functions.test.ts';
const handlebars = 'src/engine/compile/language/template/template.test.ts';
const missing = 'test/integration/missing.test.ts';
const badSyntax = 'test/fixtures/invalid-compile/expression-syntax.yaml';
const badNames = 'test/fixtures/invalid-compile/unknown-name.yaml';

export const language: RuleSection = {
  heading: 'Expressions',
  page: 'expressions.md',
  rules: [
    {
      rule: '`${ }` as the whole string yields the value with its type',
      shownBy: [
        `${phase} › elements are spread into lists, and lists without a match are empty`,
        `${leaf} › reads \${JSON.stringify`,
      ],
    },
    {
      rule: 'Parts of a text must be strings, numbers or booleans',
      shownBy: [
        `${leaf} › reads text with parts in order, with escapes resolved`,
        'src/engine/compile/language/quirks.test.ts › names its missing part',
      ],
    },
    {
      rule: '`${? }` without a result omits the field',
      shownBy: [`${phase} › an optional expression leaves its field out`],
    },
    {
      rule: '`${... }` inserts each element into the list',
      shownBy: [`${phase} › elements are spread into lists, and lists without a match are empty`],
    },
    {
      rule: '`{{ }}` is rendered by Handlebars, strict and without HTML escaping',
      shownBy: [`${handlebars} › fails at run time for`, `${handlebars} › rejects`],
    },
    {
      rule: 'The content of `$literal` is not evaluated',
      shownBy: [`${phase} › what stands in $literal is untouched`],
    },
    {
      rule: '`$${` and `\\{{` are literal marks',
      shownBy: [`${leaf} › reads text with parts in order, with escapes resolved`],
    },
    {
      rule: 'An expression ends at its balanced brace',
      shownBy: ['src/engine/compile/language/tokens.test.ts › finds the brace that closes'],
    },
    { rule: 'A string may not mix `${` and `{{`', shownBy: [`${leaf} › rejects`] },
    {
      rule: '`apiVersion`, `kind` and ids are literals',
      shownBy: [
        'test/fixtures/invalid/forbidden-expression.yaml',
        'test/fixtures/invalid-compile/forbidden-expression.yaml',
      ],
    },
    {
      rule: 'A plain YAML string that YAML forbids is reported with the correct spelling',
      shownBy: [
        'test/fixtures/invalid/yaml-syntax.yaml',
        'src/engine/definition/yaml/read-documents.test.ts › the rest of the file after a broken expression is parsed at the right positions',
      ],
    },
    {
      rule: 'Names of `reads`, `children` and the like take precedence over fields of the resource; `$self` has these',
      shownBy: [
        `${phase} › root names take precedence over fields of the resource, which $self contains`,
      ],
    },
    {
      rule: '`observed.<id>` never waits, implies no order and no cycle; with `forEach` it is a list sorted by name',
      shownBy: [
        'src/engine/compile/observed.test.ts › implies no order and no cycle, whether children observe each other or themselves',
        'src/engine/reconcile/observe/observe-children.test.ts › a list is sorted by name, empty when there is none, and has what is being deleted',
      ],
    },
    {
      rule: 'A child may read its own `observed`: a password is not rotated',
      shownBy: [
        'test/integration/children-life.test.ts › a password is made once: an edit, and a label that a user takes off, leave it',
        'test/integration/children-life.test.ts › a password outlives a restart, with an edit while no process runs',
        'test/integration/children-life.test.ts › a Secret that is deleted and comes back from a backup keeps its password',
      ],
    },
    {
      rule: '`$item` and `$index` exist in `forEach`, `$child` in `ready`',
      shownBy: [
        `${phase} › \`ready\` sees $child and $item; without a result it is false`,
        badNames,
      ],
    },
    {
      rule: '`$previous` exists in `conditions`, `events` and `patches`',
      shownBy: [
        'test/integration/reporting.test.ts › conditions follow the new status, keep their time, and Events report each switch once',
        'test/fixtures/invalid-compile/reporting.yaml',
      ],
    },
    {
      rule: 'Every function returns what its table shows',
      shownBy: [
        `${functions} › \${source} gives`,
        `${functions} › \${source} fails with`,
        `${functions} › are documented and named once`,
      ],
    },
    {
      rule: '`$now()` is constant within a reconcile',
      shownBy: [
        'src/engine/reconcile/report/reporting.test.ts › $now() is the same wherever a pass asks for it',
      ],
    },
    {
      rule: '`$now()` and `$random*` in a template are rejected except after `observed`, with `OnDelete`, and where a time is only compared',
      shownBy: [
        'src/engine/compile/language/references.test.ts › mark values that are evaluated only if an observed value is missing',
        'test/fixtures/invalid-compile/forbidden-expression.yaml',
      ],
    },
    {
      rule: 'Functions that can hang are bounded, `$eval` does not exist, and an evaluation has limits',
      shownBy: [
        'src/engine/compile/language/guards.test.ts › ends with an error',
        'src/engine/compile/language/meter.test.ts › the steps of one evaluation are bounded',
        'src/engine/compile/language/bounded-functions.test.ts › gives what the original gives',
      ],
    },
    {
      rule: 'Results are plain JSON copies',
      shownBy: [
        'src/engine/compile/language/quirks.test.ts › results are plain objects and lists',
        `${phase} › results share nothing with the resource and constants are shared between renders`,
      ],
    },
  ],
};

export const missingValues: RuleSection = {
  heading: 'Waiting and missing values',
  page: 'expressions.md#waiting',
  rules: [
    {
      rule: 'A child that uses a missing child or read waits, and an existing object stays',
      shownBy: [
        `${waiting} › expressions wait for a child that does not exist, also through vars`,
        `${missing} › a read that is deleted leaves what was made from it, and heals by itself`,
      ],
    },
    {
      rule: '`children.x` of a `forEach` waits until all desired elements exist',
      shownBy: [
        'src/engine/reconcile/child/apply-tiers.test.ts › what reads a list of children waits until all elements that are wanted exist',
      ],
    },
    {
      rule: 'A child that is not desired is a missing value',
      shownBy: [`${waiting} › a child that is not desired is a missing value`],
    },
    {
      rule: 'An unknown read is never taken for absent or empty',
      shownBy: [
        'src/engine/reconcile/observe/observe-reads.test.ts › a list that is not known is never taken for an empty one',
        'test/integration/rights.test.ts › a read that is forbidden is not taken for absent, also when it is optional',
      ],
    },
    {
      rule: 'Nothing waits in the reporting phase',
      shownBy: [
        `${waiting} › in the reporting phase nothing waits: missing objects are missing values`,
      ],
    },
    {
      rule: 'A missing whole value omits the field; a list field becomes empty',
      shownBy: [`${phase} › elements are spread into lists, and lists without a match are empty`],
    },
    {
      rule: 'Text with a missing part and `&` with a missing side are errors that name the part',
      shownBy: ['src/engine/compile/language/quirks.test.ts › names its missing part'],
    },
    {
      rule: '`conditions[].status` without a value is `Unknown`',
      shownBy: [
        'src/engine/reconcile/report/reporting.test.ts › status: ${status} gives ${expected}',
        'test/integration/operator-air-conditioner.test.ts › a condition says whether the room is comfortable, and that nothing was measured',
      ],
    },
    {
      rule: '`when` without a value is an error',
      shownBy: [
        `${waiting} › \`when\` gives true or false; missing is an error, and so is another type`,
      ],
    },
    {
      rule: '`forEach` over a missing path or range end is an error; a filter that yields nothing is the empty list',
      shownBy: [`${forEach} › that is missing is an error`, `${missing} › the children of "`],
    },
    {
      rule: '`!=` with a value that may be missing gives a warning, as do zeros that the server omits',
      shownBy: [
        'src/engine/compile/language/suspicious-expressions.test.ts › is suspicious',
        'test/fixtures/invalid-compile/warnings.yaml',
      ],
    },
  ],
};

export const types: RuleSection = {
  heading: 'Types and checks at load',
  page: 'expressions.md#types',
  rules: [
    {
      rule: 'A value is converted to the type of its field at every depth, or is an error with path, expected and found type',
      shownBy: [
        'src/engine/compile/template/coerce.test.ts › does not fit',
        `${phase} › is an error of the child`,
      ],
    },
    {
      rule: 'A real server accepts what is rendered for a kind',
      shownBy: [
        'test/integration/fitting.test.ts › the server takes',
        'src/engine/compile/template/coerce.property.test.ts',
      ],
    },
    {
      rule: 'Without a schema, values are kept as they are',
      shownBy: [
        `${compile} › without schemas children are not checked, and values are not coerced`,
      ],
    },
    {
      rule: 'The syntax of every expression is checked',
      shownBy: [badSyntax, 'test/fixtures/invalid-compile/template-syntax.yaml'],
    },
    { rule: 'Unknown names are reported with the nearest existing one', shownBy: [badNames] },
    {
      rule: 'Paths that the resource does not have are reported',
      shownBy: ['test/fixtures/invalid-compile/unknown-path.yaml'],
    },
    {
      rule: 'Fields that the child does not have are reported',
      shownBy: ['test/fixtures/invalid-compile/unknown-child-field.yaml'],
    },
    {
      rule: 'Cycles between children are reported',
      shownBy: ['test/fixtures/invalid-compile/cycle.yaml', 'test/fixtures/invalid/cycle.yaml'],
    },
    {
      rule: 'A name with `-` that is parsed as a subtraction, and a predicate that refers to the element, are reported',
      shownBy: ['test/fixtures/invalid-compile/suspicious-expression.yaml'],
    },
    {
      rule: 'Values and field names that kubectl reads differently, as YAML 1.1, are reported',
      shownBy: ['test/fixtures/invalid/ambiguous-yaml.yaml'],
    },
  ],
};

export const vars: RuleSection = {
  heading: 'Reads',
  page: 'reads.md',
  rules: [
    {
      rule: '`vars` are evaluated in dependency order, once per phase, and only if they are used',
      shownBy: [
        `${waiting} › a var is evaluated once in a phase`,
        `${waiting} › a failing var names itself`,
      ],
    },
    {
      rule: 'A change of a value that is read reconciles the resource',
      shownBy: [
        'src/engine/reconcile/observe/observe-reads.test.ts › a change of a read path runs the resource, another one does not',
      ],
    },
    {
      rule: 'By `name`: `optional` yields a missing value, otherwise users of the read wait',
      shownBy: [
        'src/engine/reconcile/observe/observe-reads.test.ts › an optional one that is not there is a missing value',
        'src/engine/reconcile/observe/observe-reads.test.ts › what uses it waits while it is not there, and continues when it comes',
      ],
    },
    {
      rule: 'By a list of names: a list in this order, each object once; `optional` leaves out what does not exist, otherwise users of the read wait for all',
      shownBy: [
        'src/engine/compile/analysis/list-names.test.ts › a list of names',
        'src/engine/compile/phase/read-request.test.ts › has the names in their order, each once',
        'src/engine/reconcile/observe/observe-names.test.ts › what uses them waits until all exist, and says how many do not',
        'src/engine/reconcile/observe/observe-names.test.ts › with optional, those that do not exist are left out, and come later',
        'test/integration/reads-by-list.test.ts › a list of names: read in order, changed, and waited for',
      ],
    },
    {
      rule: 'Objects that are read by name are watched by name; rights name them where they are literal',
      shownBy: [
        'src/engine/reconcile/observe/observe-names.test.ts › are in the order of the names, at the first pass; only these objects are watched',
        'src/engine/check/rights/definition-rights.test.ts › check/rights: objects that are read by name',
        'test/integration/rights-by-name.test.ts › a definition that reads Secrets by written names may read no others',
      ],
    },
    {
      rule: 'By a selector that one expression returns: no value selects nothing, an empty one everything, an invalid one is an error',
      shownBy: [
        'src/engine/compile/phase/read-request.test.ts › selects nothing without a value, and everything if it is empty',
        'src/engine/compile/phase/read-request.test.ts › is an error, never a wider selector',
        'test/integration/reads-by-list.test.ts › a selector that the resource has, in both forms',
      ],
    },
    {
      rule: 'By `selector`: each resource sees its own objects, sorted by name; an empty selector is an error',
      shownBy: [
        'src/engine/reconcile/observe/observe-reads.test.ts › each resource sees its own, sorted by name',
        'src/engine/compile/analysis/selector.test.ts › is an error, never a wider selector',
      ],
    },
    {
      rule: '`selector: all`',
      shownBy: [
        'test/integration/reads.test.ts › all objects of a kind in the namespace of the resource',
      ],
    },
    {
      rule: '`namespace`, `namespaces` and `namespaceSelector` read other namespaces, with `crossNamespace`',
      shownBy: [
        'test/integration/reads.test.ts › an object of a computed namespace is followed; a namespace that no glob allows is rejected',
        'test/integration/reads.test.ts › a computed list of namespaces: read, changed, emptied, and never taken for empty when it is missing',
        'test/integration/reads.test.ts › namespaces by their labels: they come, are labelled again, and leave',
        'test/integration/reads.test.ts › all namespaces, within globs, also those that come later',
      ],
    },
    {
      rule: 'A computed namespace without patterns in `crossNamespace` is an error at load',
      shownBy: [
        'test/fixtures/invalid/read-namespaces.yaml',
        'test/fixtures/invalid/child-namespaces.yaml',
      ],
    },
    {
      rule: 'The namespace of the runtime is never read or written',
      shownBy: [
        "src/engine/reconcile/read-namespaces.test.ts › the runtime's own namespace is never read: by name it is reported, in all of them it is left out",
        'src/engine/reconcile/ownership/placement.test.ts › a child may not be in',
      ],
    },
    {
      rule: 'The name of a Namespace that is written is a namespace; those of Kubernetes must be named by a pattern',
      shownBy: [
        'test/fixtures/invalid/namespace-names.yaml',
        'src/engine/reconcile/ownership/placement.test.ts › a Namespace beyond its globs',
        'src/engine/reconcile/ownership/placement.test.ts › one of Kubernetes itself that no glob names',
        'test/attacks/placement-namespaces.test.ts › no author writes',
      ],
    },
    {
      rule: 'A cluster-scoped resource specifies the namespace of its reads',
      shownBy: [
        'test/fixtures/invalid-compile/read-scope.yaml',
        'test/fixtures/invalid-compile/cluster-scope.yaml',
      ],
    },
    {
      rule: 'A computed name of a Secret whose value other users can read gives a warning',
      shownBy: ['test/fixtures/invalid-compile/warnings.yaml'],
    },
  ],
};
