import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { languageNames } from './language-names.ts';
import { expressionAt, nameAt } from './written-expression.ts';

/** The name at `|`, with the names before it; `-` outside of an expression. */
function nameIn(marked: string) {
  const offset = marked.indexOf('|');
  const text = marked.replace('|', '');
  const leaf = { start: 0, end: text.length };
  const expression = expressionAt(text, offset, leaf);
  if (expression === undefined) return '-';
  const name = nameAt(text, offset, { expression, leaf });
  return name && [name.text, name.base, ...(name.isHelper ? ['helper'] : [])];
}

describe('compile/language/written-expression', () => {
  for (const [marked, expected] of [
    ['${ spec.| }', ['', ['spec']]],
    ['${ spec.|', ['', ['spec']]],
    ['${ | }', ['', []]],
    ['${ spec.si|ze }', ['size', ['spec']]],
    ['${ sp|ec.size }', ['spec', []]],
    ['${? spec.| }', ['', ['spec']]],
    ['${... spec.| }', ['', ['spec']]],
    ['a ${ x } ${ spec.| }', ['', ['spec']]],
    ['${ spec.a ?? | }', ['', []]],
    ['${ spec.`a-b`.| }', ['', ['spec', 'a-b']]],
    ['${ spec."a.b".| }', ['', ['spec', 'a.b']]],
    ['${ spec.list[0].| }', ['', ['spec', 'list']]],
    ['${ children.pod[metadata.|] }', ['', ['children', 'pod', 'metadata']]],
    ['${ children.pod[na|].x', ['na', ['children', 'pod']]],
    ['${ spec.list.{ "a": na| } }', ['na', ['spec', 'list']]],
    ['${ spec.list.(na|) }', ['na', ['spec', 'list']]],
    ['${ spec.list.$.| }', ['', ['spec', 'list']]],
    ['${ spec.list[$$.spec.|] }', ['', ['spec']]],
    ['${ [spec.|] }', ['', ['spec']]],
    ['${ $self.spec.| }', ['', ['spec']]],
    ['${ $item.| }', ['', ['$item']]],
    ['${ $ha|sh(x) }', ['$hash', []]],
    ['${ $hash(spec.|) }', ['', ['spec']]],
    ['${ $hash(x).| }', ['', undefined]],
    ['${ (a ? b : c).| }', ['', undefined]],
    ['{{ spec.| }}', ['', ['spec']]],
    ['{{js| spec.a}}', ['js', [], 'helper']],
    ['{{#if (e| spec.a)}}', ['e', [], 'helper']],
    ['{{#each spec.links}}{{ u| }}', ['u', ['spec', 'links'], 'helper']],
    ['{{#each spec.links}}{{#if a}}{{ this.| }}', ['', ['spec', 'links']]],
    ['{{#with spec.a}}{{/with}}{{ u| }}', ['u', [], 'helper']],
    ['${ "a|b" }', undefined],
    ['${ "ab| }', undefined],
    ['${ 1| }', undefined],
    ['text|', '-'],
    ['${ a }| ${ b }', '-'],
    ['$${ a| }', '-'],
    ['\\{{ a| }}', '-'],
  ] as const) {
    test(`finds the name in ${marked}`, () => {
      assert.deepEqual(nameIn(marked), expected);
    });
  }

  test('every name of the language is listed once, with its call', () => {
    const names = languageNames();
    assert.equal(new Set(names.map(({ name, kind }) => `${kind} ${name}`)).size, names.length);
    const calls = new Map(names.map(({ name, call }) => [name, call]));
    assert.equal(calls.get('$now'), '$now()');
    assert.equal(calls.get('$join'), '$join(list, separator?)');
    assert.equal(calls.get('indent'), '{{indent columns text}}');
    assert.equal(calls.get('$eval'), undefined);
  });
});
