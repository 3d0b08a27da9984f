import { pointerTo } from '#util/json.ts';
import { isLabelKey, isLabelValue } from '#util/label-selector.ts';
import { shapeOfSelector, watchSelectorOf } from '../analysis/selector-shape.ts';
import type { CheckContext } from '../check-context.ts';
import type { CompiledRead } from '../compiled-templates.ts';
import type { Diagnostics } from '../diagnostics.ts';
import { isObjectName } from '../phase/manifest.ts';
import { fieldForScalar, type SchemaType } from '../schema/schema-type.ts';
import { typeName } from '../template/coerce.ts';
import { type CompiledTemplate, literalFields, type Slot } from '../template/template.ts';
import { positionInLeaf } from '../template/values.ts';
import { type KnownResult, knownResults, nameOf } from './check-types.ts';

/** Reports invalid labels, and warns about selectors that cannot narrow a watch. */
export function checkSelectors(context: CheckContext): void {
  const { parts, diagnostics } = context;
  for (const read of parts.reads) {
    const { selector, namespaceSelector } = read;
    for (const labels of [selector?.matchLabels, namespaceSelector?.matchLabels]) {
      if (labels !== undefined) checkLabels(labels, diagnostics);
    }
    if (selector?.whole !== undefined) checkWhole(selector.whole, context);
    // Empty selectors have been reported.
    if (selector?.matchLabels === undefined && selector?.matchExpressions === undefined) continue;
    const narrowed = watchSelectorOf(shapeOfSelector(selector, parts.vars));
    if (narrowed === undefined) warn(read, diagnostics);
  }
}

function checkLabels({ root, pointer }: CompiledTemplate, diagnostics: Diagnostics): void {
  for (const [key, node] of literalFields(root)) {
    const value = node.kind === 'constant' ? node.value : undefined;
    const path = pointerTo(pointer, key);
    if (!isLabelKey(key)) {
      const message = `Expected a label key, found "${key}"`;
      diagnostics.report({ code: 'invalid-value', message, path, at: 'key' });
    }
    if (typeof value === 'string' && !isLabelValue(value)) {
      const message = `Expected a label value, found "${value}"`;
      diagnostics.report({ code: 'invalid-value', message, path });
    }
  }
}

function warn({ definition, pointer }: CompiledRead, diagnostics: Diagnostics): void {
  diagnostics.report({
    severity: 'warning',
    code: 'suspicious-expression',
    message: `The selector of read "${definition.id}" is completely computed, so all objects of kind "${definition.gvk.kind}" are watched`,
    hint: 'Use literal label keys',
    path: pointerTo(pointer, 'selector'),
    at: 'key',
  });
}

const anySelector =
  'Write an object with "matchLabels" and "matchExpressions", or a text such as "a=b,c in (d,e)"';
const selectorFields = ['matchLabels', 'matchExpressions'];

/** Reports an expression that never returns a whole selector: a number, a list, or an object with other fields. */
function checkWhole(template: CompiledTemplate, context: CheckContext): void {
  for (const { slot, result } of resultsOf(template, context)) {
    const { found, reference, offset } = result;
    const hint = wholeHint(found, reference && nameOf(reference));
    if (hint === undefined) continue;
    const what = reference === undefined ? 'the result' : `"${nameOf(reference)}"`;
    context.diagnostics.report({
      code: 'wrong-type',
      message: `Expected a label selector at ${slot.place.field}, but ${what} is ${describe(found)}`,
      hint,
      ...positionInLeaf(slot, offset),
    });
  }
}

/** Undefined: values of the type may be selectors. */
function wholeHint(found: SchemaType, name = '...'): string | undefined {
  switch (found.kind) {
    case 'any':
    case 'branch':
      return undefined;
    case 'scalar':
      return mayBeText(found) ? undefined : anySelector;
    case 'list':
      return found.item.kind === 'scalar'
        ? anySelector
        : `Write "{ matchExpressions: '\${ ${name} }' }"`;
    case 'map':
      return mayBeText(found.item) ? `Write "{ matchLabels: '\${ ${name} }' }"` : undefined;
    case 'struct': {
      const isSelector = found.open || selectorFields.some((field) => found.fields.has(field));
      const inner = ['selector', 'labelSelector'].find((field) => found.fields.has(field));
      if (isSelector) return undefined;
      return inner === undefined
        ? 'It needs "matchLabels" or "matchExpressions"'
        : `Write "${name}.${inner}"`;
    }
  }
}

/** Reports names in the list of a read that are never names of objects. */
export function checkReadNames(context: CheckContext): void {
  const { parts, diagnostics } = context;
  for (const { isList, name } of parts.reads) {
    if (!isList || name === undefined) continue;
    checkLiteralNames(name, diagnostics);
    for (const { slot, result } of resultsOf(name, context)) {
      const { found, reference, offset } = result;
      const isWhole = slot.role === 'spread' || slot.pointer === name.pointer;
      const each = found.kind === 'list' && isWhole ? found.item : found;
      if (isOpen(each) || (each.kind === 'scalar' && mayBeText(each))) continue;
      const written = reference && nameOf(reference);
      const field = each.kind === 'struct' ? fieldForName(each) : undefined;
      diagnostics.report({
        code: 'wrong-type',
        message: `Expected names at ${slot.place.field}, but ${written === undefined ? 'the result' : `"${written}"`} is ${describe(found)}`,
        hint: nameHint(each, { written, field }),
        ...positionInLeaf(slot, offset),
      });
    }
  }
}

function checkLiteralNames({ root, pointer }: CompiledTemplate, diagnostics: Diagnostics): void {
  const items: readonly unknown[] =
    root.kind === 'list'
      ? root.items.map(({ node }) => (node.kind === 'constant' ? node.value : undefined))
      : root.kind === 'constant' && Array.isArray(root.value)
        ? root.value
        : [];
  for (const [index, item] of items.entries()) {
    if (item === undefined || item === '' || (typeof item === 'string' && isObjectName(item)))
      continue;
    const message = `Expected the name of an object, found ${JSON.stringify(item)}`;
    diagnostics.report({ code: 'invalid-value', message, path: pointerTo(pointer, index) });
  }
}

function nameHint(
  each: SchemaType,
  { written, field }: { readonly written: string | undefined; readonly field: string | undefined },
): string | undefined {
  if (written === undefined) return undefined;
  if (each.kind === 'list') return `Write "\${... ${written} }" to insert its elements`;
  return field === undefined ? undefined : `Write "${written}.${field}"`;
}

/** The field of a struct that has the name of an object. */
function fieldForName(type: Extract<SchemaType, { kind: 'struct' }>): string | undefined {
  const known = ['name', 'secretName', 'configMapName'].find((field) => type.fields.has(field));
  return known ?? fieldForScalar(type, 'string');
}

interface SlotResult {
  readonly slot: Slot;
  readonly result: KnownResult;
}

/** The results of the expressions of a template, as far as their type is known. */
function resultsOf({ slots }: CompiledTemplate, context: CheckContext): readonly SlotResult[] {
  return slots.flatMap((slot) =>
    slot.leaf.kind === 'value'
      ? knownResults(slot.leaf.expression, {}, context).map((result) => ({ slot, result }))
      : [],
  );
}

function isOpen({ kind }: SchemaType): boolean {
  return kind === 'any' || kind === 'branch';
}

function mayBeText(type: SchemaType): boolean {
  if (type.kind !== 'scalar') return isOpen(type);
  return type.accepts.some((name) => name === 'string' || name === 'unknown');
}

/** A list with what it has. */
function describe(type: SchemaType): string {
  if (type.kind !== 'list' || isOpen(type.item)) return typeName(type);
  return `a list of ${typeName(type.item).replace(/^an? /, '')}s`;
}
