import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { definitionParser, draftsOf } from '../../../test/support/definition-parser.ts';
import { dedent, expectDiagnostics } from '../../../test/support/diagnostics.ts';
import { arrangeDiagnostics, type Diagnostic } from './index.ts';

const head = (name: string) => dedent`
  apiVersion: homeostat.dev/v1alpha1
  kind: OperatorDefinition
  metadata: { name: ${name} }
  spec:
    crd:
      group: apps.example.com
      names: { kind: Thing, plural: things }
      scope: Namespaced
      versions: [{ name: v1, schema: { openAPIV3Schema: { type: object } } }]
`;
const file = 'a.yaml';
const parse = (text: string) => {
  const parsed = definitionParser.parse(text, file);
  return { ...parsed, drafts: draftsOf(parsed) };
};

function only(text: string) {
  const { definitions, diagnostics } = parse(text);
  assert.deepEqual(diagnostics, []);
  const [located] = definitions;
  assert.ok(located !== undefined && definitions.length === 1);
  return located;
}

describe('definition/parse-definitions', () => {
  test('defaults are filled in', () => {
    const { definition } =
      only(`${head('thing')}  reads: [{ id: pods, apiVersion: v1, kind: Pod, selector: all }]
  children:
    - id: file
      template: { apiVersion: apps/v1, kind: Deployment, metadata: { name: a } }
`);
    assert.equal(definition.name, 'thing');
    assert.deepEqual(definition.kind.gvk, {
      group: 'apps.example.com',
      version: 'v1',
      kind: 'Thing',
    });
    assert.equal(definition.kind.scope, 'Namespaced');
    assert.deepEqual(definition.kind.crdPolicy, {
      adopt: false,
      deletion: 'Retain',
      allowBreakingChanges: false,
    });
    assert.equal(definition.removalPolicy, 'Retain');
    assert.deepEqual(definition.reads, [
      {
        id: 'pods',
        gvk: { group: '', version: 'v1', kind: 'Pod' },
        by: { kind: 'selector', selector: 'all' },
        optional: false,
        from: { kind: 'own' },
        crossNamespace: false,
      },
    ]);
    assert.deepEqual(definition.children, [
      {
        id: 'file',
        gvk: { group: 'apps', version: 'v1', kind: 'Deployment' },
        template: { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a' } },
        after: [],
        conflicts: 'Force',
        crossNamespace: false,
        ordered: false,
        deletionPolicy: 'Delete',
        adopt: 'Never',
        adoptedPolicy: 'Orphan',
        updateStrategy: { type: 'Apply' },
      },
    ]);
    assert.deepEqual([definition.vars, definition.status], [{}, {}]);
    assert.deepEqual(definition.controller, {
      concurrency: 10,
      resyncMs: 36_000_000,
      retry: { initialMs: 5, maxMs: 1_000_000, permanentMs: 600_000 },
      rollout: { perSecond: 50, stopAfterFailures: 10, maxDeletions: 10 },
      limits: { steps: 1_000_000, memoryBytes: 67_108_864, cpuMs: 1_000 },
    });
  });

  test('durations become milliseconds', () => {
    const { definition } = only(
      `${head('thing')}  controller: { concurrency: 2, resync: 1h30m, retry: { initial: 10ms, max: 5m, permanent: 1d } }\n`,
    );
    assert.deepEqual(definition.controller, {
      concurrency: 2,
      resyncMs: 5_400_000,
      retry: { initialMs: 10, maxMs: 300_000, permanentMs: 86_400_000 },
      rollout: { perSecond: 50, stopAfterFailures: 10, maxDeletions: 10 },
      limits: { steps: 1_000_000, memoryBytes: 67_108_864, cpuMs: 1_000 },
    });
  });

  test('limits are an integer, a quantity and a duration', () => {
    const { definition } = only(
      `${head('thing')}  controller: { limits: { steps: 5000, memory: 2Mi, cpu: 300ms } }\n`,
    );
    assert.deepEqual(definition.controller.limits, {
      steps: 5_000,
      memoryBytes: 2_097_152,
      cpuMs: 300,
    });
  });

  test('the rollout is part of the revision, with defaults', () => {
    const text = (rollout: string) => `${head('thing')}  controller: { rollout: ${rollout} }\n`;
    const { definition } = only(text('{ perSecond: 0, stopAfterFailures: 1, maxDeletions: 0 }'));
    assert.deepEqual(definition.controller.rollout, {
      perSecond: 0,
      stopAfterFailures: 1,
      maxDeletions: 0,
    });
    const revisions = ['{ maxDeletions: 11 }', '{ perSecond: 50 }', '{}'].map(
      (rollout) => only(text(rollout)).definition.revision,
    );
    assert.equal(new Set([definition.revision, ...revisions]).size, 3);
    assert.equal(revisions[1], revisions[2]);
  });

  test('the history of a read has defaults; a read without it has none', () => {
    const read = (more: string) =>
      `  reads:\n    - { id: a, apiVersion: v1, kind: ConfigMap, selector: all${more} }\n`;
    const historyOf = (more: string) =>
      only(head('thing') + read(more)).definition.reads[0]?.history;
    assert.deepEqual(historyOf(', history: {}'), { keep: 10, keepDeletedMs: 2_592_000_000 });
    assert.deepEqual(historyOf(', history: { keep: 100, onChange: [data], keepDeleted: 1h }'), {
      keep: 100,
      onChange: ['data'],
      keepDeletedMs: 3_600_000,
    });
    const { definition } = only(head('thing') + read(''));
    assert.equal(Object.hasOwn(definition.reads[0] ?? {}, 'history'), false);
    assert.doesNotMatch(JSON.stringify(definition), /"(history|once|replace)"/);
  });

  test('a definition is deeply frozen', () => {
    const { definition } = only(`${head('thing')}  vars: { a: { b: [{ c: 1 }] } }\n`);
    const open: string[] = [];
    (function look(value: unknown, path: string) {
      if (typeof value !== 'object' || value === null) return;
      if (!Object.isFrozen(value)) open.push(path);
      for (const [name, field] of Object.entries(value)) look(field, `${path}/${name}`);
    })(definition, '');
    assert.deepEqual(open, []);
  });

  describe('the revision', () => {
    const revision = (text: string) => only(text).definition.revision;
    const base = revision(`${head('thing')}  vars: { a: 1, b: 2 }\n`);

    test('is ten hex digits', () => assert.match(base, /^[0-9a-f]{10}$/));

    for (const [what, body] of [
      ['the order of fields', '  vars: { b: 2, a: 1 }\n'],
      ['comments and quotes', '  # comment\n  "vars": { "a": 1, "b": 2 }\n'],
      [
        'defaults that are written out',
        '  vars: { a: 1, b: 2 }\n  controller: { resync: 600m }\n  children: []\n',
      ],
      ['later fields with their defaults', '  vars: { a: 1, b: 2 }\n  removalPolicy: Retain\n'],
    ] as const) {
      test(`is the same whatever ${what}`, () =>
        assert.equal(revision(head('thing') + body), base));
    }

    test('does not depend on the name', () => {
      assert.equal(revision(`${head('other')}  vars: { a: 1, b: 2 }\n`), base);
    });

    test('changes with a value', () => {
      assert.notEqual(revision(`${head('thing')}  vars: { a: 1, b: 3 }\n`), base);
    });
  });

  test('each document is accepted or rejected on its own', () => {
    const text = `${head('good')}---\n${head('bad')}  controler: {}\n---\n${head('fine')}`;
    const { definitions, drafts, diagnostics } = parse(text);
    assert.deepEqual(
      definitions.map(({ definition }) => definition.name),
      ['good', 'fine'],
    );
    assert.deepEqual(
      drafts.map(({ definition }) => definition.name),
      ['bad'],
    );
    expectDiagnostics(diagnostics, [
      {
        code: 'unknown-field',
        line: 20,
        column: 3,
        path: '/spec/controler',
        message: 'Unknown field "controler"',
        hint: 'Did you mean "controller"?',
        file,
      },
    ]);
  });

  test('a file with a syntax error has no definitions, and partial results only where the structure is reliable', () => {
    const cut = `${head('cut')}  vars: { b: 1 }\n  status: { a: 1 }\n  controller: { concurrency: 0 }\n`;
    const broken = cut.replace('vars: { b: 1 }', 'vars:\n    b: ${ c ? d : e }');
    const garbled = `${head('garbled')}  children: [\n`;
    const { definitions, drafts, diagnostics } = parse(
      `${head('good')}---\n${broken}---\n${garbled}`,
    );
    assert.deepEqual(definitions, []);
    assert.deepEqual(
      drafts.map(({ definition }) => definition.name),
      ['good', 'cut'],
    );
    assert.deepEqual(
      diagnostics.map(({ code, line }) => [code, line]),
      [
        ['yaml-syntax', 21],
        ['invalid-value', 23],
        ['yaml-syntax', 35],
      ],
    );
  });

  test('a rejected definition contains only the parts that could be read', () => {
    const { drafts } = parse(`${head('draft')}  children:
    - { id: kindless, template: { metadata: { name: a } } }
    - { template: { apiVersion: v1, kind: ConfigMap, metadata: { name: a } } }
    - { id: good, after: kindless, template: { apiVersion: v1, kind: ConfigMap, metadata: { name: a } } }
`);
    const [draft] = drafts;
    assert.deepEqual(
      draft?.definition.children.map(({ id, after }) => [id, after]),
      [['good', []]],
    );
    assert.deepEqual(draft?.pointers, {
      reads: [],
      children: ['/spec/children/2'],
      onDelete: [],
    });
  });

  test('an empty file has neither definitions nor errors', () => {
    for (const text of ['', '# nothing\n', '---\n---\n']) {
      const { definitions, drafts, diagnostics, documents, isComplete: isWhole } = parse(text);
      assert.deepEqual([definitions, drafts, diagnostics, documents], [[], [], [], []]);
      assert.ok(isWhole);
    }
  });

  test('each document is reported by name with its result', () => {
    const text = `${head('good')}---\n${head('bad')}  reeds: []\n---\nkind: Other\n---\n${head('good')}`;
    const { documents, isComplete: isWhole } = parse(text);
    assert.ok(isWhole);
    assert.deepEqual(
      documents.map(({ name, isAccepted, located, diagnostics }) => [
        name,
        isAccepted,
        located !== undefined,
        diagnostics.map(({ code }) => code),
      ]),
      [
        ['good', true, true, []],
        ['bad', false, true, ['unknown-field']],
        [undefined, false, false, documents[2]?.diagnostics.map(({ code }) => code)],
        ['good', false, true, ['duplicate-id']],
      ],
    );
    assert.equal(documents[2]?.diagnostics.length, 1);
  });

  test('after a syntax error no document is accepted, and the file is incomplete', () => {
    const { documents, isComplete: isWhole } = parse(`${head('good')}---\na: [\n`);
    assert.equal(isWhole, false);
    assert.deepEqual(
      documents.map(({ isAccepted }) => isAccepted),
      documents.map(() => false),
    );
    assert.equal(documents[0]?.name, 'good');
  });

  describe('other documents are reported once', () => {
    const deployment = dedent`
      apiVersion: apps/v1
      kind: Deployment
      metadata: { name: web, namespace: shop }
      spec: { replicas: 012, paused: no }
    `;
    const belongs =
      'A definition has "apiVersion: homeostat.dev/v1alpha1" and "kind: OperatorDefinition"';
    for (const [what, text, message, hint] of [
      ['a manifest', deployment, 'Expected "OperatorDefinition", found "Deployment"', belongs],
      [
        'a file of manifests',
        `${deployment}---\n${deployment}---\n${deployment}`,
        'Expected "OperatorDefinition", found "Deployment"',
        `${belongs}; 2 more documents are no definitions`,
      ],
      [
        'a file of another tool',
        'services: { web: { image: a } }\nvolumes: {}\n',
        'Expected a definition, found a document without "apiVersion" and "kind"',
        belongs,
      ],
    ] as const) {
      test(what, () => {
        const { definitions, drafts, diagnostics } = parse(text);
        assert.deepEqual([definitions, drafts], [[], []]);
        assert.deepEqual(
          diagnostics.map((found) => [found.message, found.hint]),
          [[message, hint]],
        );
      });
    }

    test('definitions in the same file are accepted', () => {
      const { definitions, diagnostics } = parse(`${deployment}---\n${head('thing')}`);
      assert.equal(definitions.length, 1);
      assert.equal(diagnostics.length, 1);
    });
  });

  test('a truncated file is never accepted as a different definition', () => {
    const whole = `${head('thing')}  children:\n    - id: file\n      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: a } }\n`;
    for (let length = 0; length < whole.length; length++) {
      const { definitions } = parse(whole.slice(0, length));
      for (const { definition } of definitions) assert.equal(definition.name, 'thing');
    }
  });

  test('at most 100 diagnostics are reported, the first ones of the file', () => {
    const fields = Array.from({ length: 150 }, (_, index) => `  wrong${index}: 1\n`);
    const { diagnostics } = parse(head('thing') + fields.join(''));
    assert.equal(diagnostics.length, 100);
    assert.deepEqual([diagnostics[0]?.line, diagnostics[99]?.line], [10, 109]);
  });
});

describe('definition/arrange-diagnostics', () => {
  const at = (
    line: number,
    code: Diagnostic['code'] = 'unknown-name',
    name = file,
  ): Diagnostic => ({
    severity: 'error',
    code,
    message: 'Wrong',
    file: name,
    line,
    column: 1,
    path: '',
  });

  test('diagnostics come in the order of files and lines, equal ones once', () => {
    const arranged = arrangeDiagnostics([at(3), at(1, 'cycle', 'b.yaml'), at(1), at(3)]);
    assert.deepEqual(arranged, [at(1), at(3), at(1, 'cycle', 'b.yaml')]);
  });

  test('at an unreadable value only the syntax error is reported', () => {
    assert.deepEqual(arrangeDiagnostics([at(2), at(2, 'yaml-syntax')]), [at(2, 'yaml-syntax')]);
  });
});

describe('definition/parse-definitions: a syntax error causes no other diagnostics', () => {
  const bomb = Array.from({ length: 6 }, (_, level) => {
    const items = Array(10).fill(level === 0 ? 'x' : `*a${level - 1}`);
    return `    a${level}: &a${level} [${items.join(', ')}]`;
  }).join('\n');
  for (const [what, text, line] of [
    ['metadata under a tab', head('thing').replace('{ name: thing }', '\n\tname: thing'), 4],
    ['a list under a tab', `${head('thing')}  reads:\n\t- id: a\n`, 11],
    ['a bomb of aliases', `${head('thing')}  vars:\n${bomb}\n  reads: 1\n`, 1],
    ['a merge key', `${head('thing')}  reads:\n    - <<: { id: a }\n      name: b\n`, 11],
    ['braces for a text', head('{{ x }}').replace('{ name: {', 'name: {').replace('} }', '}'), 3],
    ['an unknown alias', head('*x'), 3],
  ] as const) {
    test(what, () => {
      const found = parse(text).diagnostics.map((each) => [each.line, each.code]);
      assert.deepEqual(found, [[line, 'yaml-syntax']]);
    });
  }

  test('errors above it are reported', () => {
    const text = `${head('thing').replace('scope: Namespaced', 'scope: Nowhere')}  reads:\n\t- id: a\n`;
    const found = parse(text).diagnostics.map((each) => [each.line, each.code]);
    assert.deepEqual(found, [
      [8, 'invalid-value'],
      [11, 'yaml-syntax'],
    ]);
  });
});
