import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import Handlebars from 'handlebars';
import {
  createTestParser,
  expressionOf,
  isCovered,
  recording,
  testScope,
} from '../../../../../test/support/compile/test-scope.ts';
import type { ExpressionError } from '../evaluation-error.ts';
import type { Reference } from '../leaf.ts';

const root = {
  metadata: { name: 'web', labels: { app: 'shop', tier: 'front' } },
  spec: {
    size: 3,
    zero: 0,
    yes: true,
    no: false,
    none: null,
    empty: '',
    quote: `<a & "b" 'c'>=`,
    list: [
      { name: 'a', ports: [80, 81] },
      { name: 'b', ports: [] },
    ],
    words: ['x', 'y', 'z'],
    nothing: [],
    odd: { 'x-y': { z: 'deep' } },
  },
};

async function render(text: string, more = {}): Promise<unknown> {
  return expressionOf(text).evaluate(testScope(root, more));
}

describe('compile/language Handlebars', () => {
  for (const text of [
    'a {{metadata.name}} b',
    '{{spec.size}} {{spec.zero}} {{spec.yes}} {{spec.no}} {{spec.empty}}',
    '{{spec.quote}} {{{spec.quote}}} {{&spec.quote}}',
    '{{spec.odd.[x-y].z}} {{spec.odd.x-y.z}} {{spec/size}}',
    '{{this.metadata.name}} {{./spec.size}} {{#with this}}{{spec.size}}{{/with}}',
    '{{! comment }}x{{!-- another }} --}}y',
    'a\n  {{#if spec.yes}}\n  b\n  {{/if}}\nc\n',
    ' {{~#if spec.yes~}} \n x \n {{~/if~}} y',
    '{{#if spec.zero}}a{{else}}b{{/if}}{{#if spec.zero includeZero=true}}a{{else}}b{{/if}}',
    '{{#if spec.nothing}}a{{else}}b{{/if}}{{#if spec.empty}}a{{else}}b{{/if}}',
    '{{#if spec.no}}a{{else if spec.none}}b{{else if spec.yes}}c{{else}}d{{/if}}',
    '{{#unless spec.no}}a{{else}}b{{/unless}}{{#unless spec.yes}}a{{else}}b{{/unless}}',
    '{{#each spec.words}}{{@index}}{{this}}{{.}}{{@first}}{{@last}}{{@key}};{{/each}}',
    '{{#each metadata.labels}}{{@key}}={{this}}{{@index}}{{@first}}{{@last}};{{/each}}',
    '{{#each spec.words as |w i|}}{{i}}{{w}}{{#if w}}{{../metadata.name}}{{/if}}{{/each}}',
    '{{#each spec.list}}{{name}}:{{#each ports}}{{this}}/{{../name}}/{{../../metadata.name}}/{{@index}}/{{@../index}} {{else}}none{{/each}}{{/each}}',
    '{{#each spec.nothing}}x{{else}}none{{/each}}{{#each spec.missing}}x{{else}}none{{/each}}',
    '{{#with spec}}{{size}}{{../metadata.name}}{{@root.metadata.name}}{{/with}}',
    '{{#with spec as |s|}}{{s.size}}{{#each s.words as |w|}}{{w}}{{s.zero}}{{/each}}{{/with}}',
    '{{#with spec.missing}}x{{else}}none{{/with}}{{#with spec.zero}}{{this}}{{/with}}',
    '{{lookup spec "size"}} {{lookup spec.words 1}}',
    '{{spec.words.length}} {{spec.words.[1]}}',
    '{{spec.list.0.name}}',
    '\\{{literal}} {{metadata.name}} \\\\{{metadata.name}}',
    '{{#if spec.yes}}{{#each spec.words}}{{../spec.size}}{{/each}}{{/if}}',
  ]) {
    test(`renders ${JSON.stringify(text)} as Handlebars does`, async () => {
      // The runtime of Handlebars prints comments and all; strict makes missing values throw.
      const expected = Handlebars.compile(text, { noEscape: true, strict: true })(root);
      assert.equal(await render(text), expected);
    });

    test(`finds the references of ${JSON.stringify(text)}`, async () => {
      const reads = new Set<string>();
      const expression = expressionOf(text);
      const watched = recording(root, [], reads) as typeof root;
      await expression.evaluate(testScope(watched));
      for (const read of reads) assert.ok(isCovered(read, expression.references), read);
    });
  }

  for (const [text, expected] of [
    ['{{json spec.list}}', '[{"name":"a","ports":[80,81]},{"name":"b","ports":[]}]'],
    ['{{yaml spec.words}}', 'yaml:["x","y","z"]'],
    ['{{indent 2 "a\nb\n\nc"}}', '  a\n  b\n\n  c'],
    ['{{indent 4 (yaml spec.size)}}', '    yaml:3'],
    ['{{base64 "päss€"}}', 'cMOkc3Pigqw='],
    ['{{default spec.missing.deep "d"}}{{default spec.none 1}}{{default spec.empty "d"}}', 'd1'],
    ['{{eq spec.size 3}}{{eq spec.missing 3}}{{eq spec.words spec.words}}', 'truefalsetrue'],
    ['{{ne spec.size 3}}{{ne spec.missing 3}}', 'falsetrue'],
    ['{{and spec.yes spec.size}}{{and spec.zero spec.size}}{{or spec.zero "x"}}', '30x'],
    ['{{not spec.missing}}{{not spec.list}}', 'truefalse'],
    ['{{lt 1 spec.size}}{{gt "b" "a"}}{{gt 1 2}}', 'truetruefalse'],
    ['{{join spec.words}}{{join spec.words " - "}}', 'x,y,zx - y - z'],
    ['{{upper metadata.name}}{{lower "ABC"}}', 'WEBabc'],
    ['{{#if (and (eq spec.size 3) (not spec.no))}}yes{{/if}}', 'yes'],
    ['{{#if spec.missing.deep}}a{{else}}b{{/if}}', 'b'],
    ['{{#each spec.words}}{{#if (gt @index 0)}}{{this}}{{/if}}{{/each}}', 'yz'],
    ['{{$item.name}}{{$index}}{{#each spec.words}}{{$item.name}}{{/each}}', 'i1iii'],
    ['{{$definition.name}} {{$cluster.name}} {{$self.metadata.name}}', 'shop test web'],
    ['$${HOME} {{metadata.name}} $${X}', '${HOME} web ${X}'],
    ['{{this.name}}{{#with metadata}}{{this.name}}{{/with}}'.slice(13), 'web'],
  ] as const) {
    test(`renders ${JSON.stringify(text)}`, async () => {
      assert.equal(await render(text, { item: { name: 'i' }, index: 1 }), expected);
    });
  }

  for (const [text, code, message] of [
    ['{{spec.missing}}', 'missing-value', 'Missing value "spec.missing"'],
    ['{{spec.none}}', 'missing-value', 'Missing value "spec.none"'],
    ['{{spec.missing.deep}}', 'missing-value', 'Missing value "spec.missing.deep"'],
    ['{{upper spec.missing}}', 'missing-value', 'Missing value "spec.missing"'],
    ['{{lookup spec "nope"}}', 'missing-value', 'Missing value "lookup"'],
    ['{{$index}}', 'missing-value', 'Missing value "$index"'],
    ['{{@index}}', 'missing-value', 'Missing value "@index"'],
    ['{{../metadata.name}}', 'missing-value', 'Missing value "../metadata.name"'],
    [
      '{{#each spec.words}}{{metadata.name}}{{/each}}',
      'missing-value',
      'Missing value "metadata.name"; inside "each" and "with", names are fields of the element: write "@root.metadata.name"',
    ],
    ['{{#each spec.words}}{{nope}}{{/each}}', 'missing-value', 'Missing value "nope"'],
    ['{{constructor}}', 'missing-value', 'Missing value "constructor"'],
    ['{{spec.__proto__.x}}', 'missing-value', 'Missing value "spec.__proto__.x"'],
    ['{{lookup spec "constructor"}}', 'missing-value', 'Missing value "lookup"'],
    [
      '{{spec.list}}',
      'evaluation-failed',
      'Expected a string, number or boolean for "spec.list", found a list',
    ],
    [
      '{{spec.odd}}',
      'evaluation-failed',
      'Expected a string, number or boolean for "spec.odd", found an object',
    ],
    ['{{lt spec.size "a"}}', 'evaluation-failed', 'Expected two numbers or two strings'],
    ['{{join metadata.name}}', 'evaluation-failed', 'Expected a list as the argument of "join"'],
    ['{{indent -1 "a"}}', 'evaluation-failed', 'Expected an integer from 0 to 100'],
  ] as const) {
    test(`fails at run time for ${text}`, async () => {
      await assert.rejects(
        () => render(text),
        (error: ExpressionError) => {
          assert.equal(error.code, code);
          assert.ok(error.message.startsWith(message), error.message);
          return true;
        },
      );
    });
  }

  for (const [text, message, offset] of [
    ['a {{#if x}}', 'Expected the end of a block, found the end of the template', 2],
    ['a\n{{#each x}}\nb\n', 'Expected the end of a block, found the end of the template', 2],
    [
      '{{#if x}}{{#each y}}{{/each}} b',
      'Expected the end of a block, found the end of the template',
      0,
    ],
    [
      '{{#if x}}{{/if}} {{~^if y}}{{^}}',
      'Expected the end of a block, found the end of the template',
      17,
    ],
    [
      '{{#if x}}{{!-- {{#if y}} --}}{{! # }}\\{{#each z}}',
      'Expected the end of a block, found the end of the template',
      0,
    ],
    ['a\nb {{foo', 'Expected a valid Handlebars template', 6],
    [`${'x'.repeat(50)}{{a}} {{(b)}}`, 'Expected a valid Handlebars template', 58],
    ['a\n {{#each x}}{{/if}}', `Expected the end of the block "each", found the end of "if"`, 6],
    ['x {{foo bar}}', 'Unknown helper "foo"', 4],
    ['x {{upper (foo)}}', 'Unknown helper "foo"', 11],
    ['$${a} {{foo bar}}', 'Unknown helper "foo"', 8],
    ['a {{"text"}}', 'Expected a name, found a literal', 4],
    ['{{uper metadata.name}}', 'Unknown helper "uper"', 2],
    ['{{upper}}', 'Expected the arguments "text" for the helper "upper"', 2],
    ['{{eq 1}}', 'Expected the arguments "a b" for the helper "eq"', 2],
    ['{{upper x y=1}}', 'Unknown option "y"', 10],
    ['{{#list}}x{{/list}}', 'Unknown block "list"', 3],
    ['{{#if a b}}x{{/if}}', 'Expected one argument for the block "if"', 0],
    ['{{> part}}', 'Partials and decorators are not supported', 0],
    ['{{#> part}}x{{/part}}', 'Partials and decorators are not supported', 0],
    ['{{* deco}}', 'Partials and decorators are not supported', 0],
    ['{{#* inline "x"}}y{{/inline}}', 'Partials and decorators are not supported', 0],
    ['{{{{raw}}}} {{x}} {{{{/raw}}}}', 'Unknown block "raw"', 4],
    ['a {{$itm}}', 'Unknown name "$itm"', 4],
    ['a {{@inx}}', 'Unknown name "@inx"', 4],
    [
      `{{metadata.name}}${'x'.repeat(300_000)}`,
      'Expected a Handlebars template of at most 262144 characters',
      0,
    ],
    [`{{upper ${'(upper '.repeat(30_000)}x${')'.repeat(30_000)}}}`, undefined, undefined],
    [`${'{{#if a}}'.repeat(9_000)}${'{{/if}}'.repeat(9_000)}`, undefined, undefined],
  ] as const) {
    test(`rejects ${JSON.stringify(text.slice(0, 60))}`, () => {
      const { leaf, problems } = createTestParser().parse(text);
      assert.equal(leaf, undefined);
      assert.deepEqual([problems[0]?.severity, problems[0]?.code], ['error', 'template-syntax']);
      if (message !== undefined) assert.equal(problems[0]?.message, message);
      if (offset !== undefined) assert.equal(problems[0]?.offset, offset);
    });
  }

  test('has hints', () => {
    const hintOf = (text: string) => createTestParser().parse(text).problems[0]?.hint;
    assert.equal(hintOf('{{uper metadata.name}}'), 'Did you mean "upper"?');
    assert.equal(hintOf('{{$itm}}'), 'Did you mean "$item"?');
    assert.equal(hintOf('{{$labels.name}}'), 'Write "\\{{" for a literal "{{"');
    assert.equal(
      hintOf('{{#list}}x{{/list}}'),
      'Supported blocks: "if", "unless", "each" and "with"',
    );
  });

  test('limits output and loops', async () => {
    const many = Array.from({ length: 2_000 }, (_, index) => index);
    for (const text of [
      '{{#each l}}{{#each ../l}}xxxxxxxxxx{{/each}}{{/each}}',
      '{{#each l}}{{#each ../l}}{{#each ../../l}}{{/each}}{{/each}}{{/each}}',
    ]) {
      await assert.rejects(async () => expressionOf(text).evaluate(testScope({ l: many })), {
        code: 'limit-exceeded',
      });
    }
  });

  for (const [text, expected] of [
    ['{{metadata.name}}-{{spec.size}}', ['resource:metadata.name', 'resource:spec.size']],
    ['{{children.db.status.ip}}{{vars.x}}', ['children:db.status.ip', 'vars:x']],
    ['{{$item.name}}{{$self.spec.x}}', ['item:name', 'resource:spec.x']],
    [
      '{{#if spec.tls.on}}{{spec.tls.key}}{{/if}}',
      ['resource:spec.tls.key', 'resource:spec.tls.on'],
    ],
    [
      '{{#with spec.db}}{{host}}{{../metadata.name}}{{@root.vars.x}}{{/with}}',
      ['resource:metadata.name', 'resource:spec.db.host', 'vars:x'],
    ],
    ['{{#with spec.db as |d|}}{{d.host}}{{/with}}', ['resource:spec.db.host']],
    [
      '{{#each reads.pods}}{{metadata.name}}{{../spec.x}}{{/each}}',
      ['reads:pods~', 'resource:spec.x'],
    ],
    [
      '{{#each spec.l as |e|}}{{e.x}}{{#if a}}{{b}}{{/if}}{{else}}{{spec.y}}{{/each}}',
      ['resource:spec.l~', 'resource:spec.y'],
    ],
    [
      '{{json spec.a}}{{upper (default spec.b spec.c)}}',
      ['resource:spec.a~', 'resource:spec.b~', 'resource:spec.c~'],
    ],
    [
      '{{lookup spec "x"}}{{lookup spec.m spec.k}}',
      ['resource:spec.k~', 'resource:spec.m~', 'resource:spec.x'],
    ],
    ['{{spec.l.0.name}}{{spec.l.length}}', ['resource:spec.l', 'resource:spec.l~']],
    ['{{json this}}', ['children:~', 'observed:~', 'reads:~', 'resource:~', 'vars:~']],
  ] as const) {
    test(`finds the references of ${text}`, () => {
      const shown = expressionOf(text).references.map(
        ({ root: from, path, exact }: Reference) => `${from}:${path.join('.')}${exact ? '' : '~'}`,
      );
      assert.deepEqual(shown.toSorted(), expected);
    });
  }

  test('returns references with offsets in the leaf, including escapes', () => {
    const text = '$${a} {{ this.spec.size }}\n{{$item.name}}';
    const { references } = expressionOf(text);
    assert.deepEqual(
      references.map(({ offset, stepOffsets }) =>
        [offset, ...stepOffsets].map((at) => text.slice(at, at + 4)),
      ),
      [
        ['spec', 'spec', 'size'],
        ['$ite', 'name'],
      ],
    );
  });
});
