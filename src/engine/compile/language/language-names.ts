import { builtinDocs } from './builtin-docs.ts';
import { builtinFunctions } from './builtin-functions.ts';
import type { Helper } from './functions/language-function.ts';
import { languageFunctions } from './functions.ts';
import type { VariableName } from './runtime-scope.ts';
import { templateHelpers } from './template/template-helpers.ts';

/** A function, a helper or a variable of expressions, for editors. */
export interface LanguageName {
  /** As it is written: `$hash`, `indent`. */
  readonly name: string;
  /** How it is called: `$hash(value)`, `{{indent columns text}}`. */
  readonly call: string;
  readonly kind: 'function' | 'helper' | 'variable';
  /** Type of the result. Undefined: it is not documented. */
  readonly returns?: string;
  readonly doc?: string;
  /** A call, and its result if it does not vary. */
  readonly example?: { readonly source: string; readonly gives?: unknown };
}

/** All functions and variables of `${ }`, and all helpers of `{{ }}`. */
export function languageNames(): readonly LanguageName[] {
  return [
    ...languageFunctions.map((helper) =>
      documented(helper, {
        name: `$${helper.name}`,
        call: callOf(helper.name, helper.params),
        kind: 'function',
      }),
    ),
    ...Object.entries(builtinDocs).map(([name, [returns, doc, source, ...gives]]): LanguageName => {
      const { params = [] } = builtinFunctions.get(name) ?? {};
      const example = { source, ...(gives.length > 0 && { gives: gives[0] }) };
      return {
        name: `$${name}`,
        call: callOf(name, params),
        kind: 'function',
        returns,
        doc,
        example,
      };
    }),
    ...Object.entries(variables).map(
      ([name, doc]): LanguageName => ({
        name: `$${name}`,
        call: `$${name}`,
        kind: 'variable',
        doc,
      }),
    ),
    ...templateHelpers.map((helper) =>
      documented(helper, {
        name: helper.name,
        call: `{{${[helper.name, ...helper.params].join(' ')}}}`,
        kind: 'helper',
      }),
    ),
    ...Object.entries(blocks).map(
      ([name, doc]): LanguageName => ({
        name,
        call: `{{#${name} value}}...{{/${name}}}`,
        kind: 'helper',
        doc,
      }),
    ),
  ];
}

function callOf(name: string, params: readonly string[]): string {
  return `$${name}(${params.join(', ')})`;
}

function documented<Context>(
  { returns, doc, example }: Helper<Context>,
  name: Pick<LanguageName, 'name' | 'call' | 'kind'>,
): LanguageName {
  return { ...name, returns, doc, example };
}

const variables: Readonly<Record<VariableName, string>> = {
  item: 'The element of `forEach`',
  index: 'The index of the element of `forEach`, from 0',
  child: 'The child, in its own `ready` and `deleteWhen`',
  previous: 'The resource at the start of the reconcile; in `conditions`, `events` and `patches`',
  self: 'The resource, for a top-level field with the name of `children`, `observed`, `reads` or `vars`',
  definition: 'Name and revision of the definition',
  cluster: 'Name and labels of the cluster',
};

const blocks = {
  if: 'The block, if the value is truthy',
  unless: 'The block, if the value is falsy',
  each: 'The block for each element; names are fields of the element',
  with: 'The block once; names are fields of the value',
};
