import type { CheckContext } from '../check-context.ts';
import type { SchemaType } from '../schema/schema-type.ts';
import { typeName } from '../template/coerce.ts';
import type { Slot } from '../template/template.ts';
import { positionInLeaf } from '../template/values.ts';
import type { TemplateUse } from '../template-uses.ts';
import { knownResults, nameOf } from './check-types.ts';

/** Reports what is wrong in a text with expressions: a list or a map as a part of it, and a brace that belongs to no expression. */
export function checkTexts(context: CheckContext): void {
  for (const use of context.templates)
    for (const slot of use.template.slots) {
      checkParts(slot, use, context);
      warnAboutBraces(slot, context);
    }
}

/** `"a-${ spec.tags }"`: only strings, numbers and booleans can be parts of a text. */
function checkParts(slot: Slot, use: TemplateUse, context: CheckContext): void {
  const parts = slot.leaf.kind === 'text' ? slot.leaf.parts : [];
  for (const part of parts) {
    if (typeof part === 'string') continue;
    const wrong = knownResults(part, use, context).find(
      ({ found: { kind } }) => kind === 'list' || kind === 'map' || kind === 'struct',
    );
    if (wrong === undefined) continue;
    const { found, reference, offset } = wrong;
    const name = reference && nameOf(reference);
    const written = name ?? part.source.trim();
    context.diagnostics.report({
      code: 'wrong-type',
      message: `Expected a string, a number or a boolean as part of a text, but ${name === undefined ? 'the result' : `"${name}"`} is ${typeName(found)}`,
      hint: partHint(found, written),
      ...positionInLeaf(slot, offset),
    });
  }
}

/** How a list or a map becomes a text. */
function partHint(found: SchemaType, written: string): string {
  if (found.kind !== 'list') return `Write "$json(${written})", or a field of it`;
  const isJoined = found.item.kind === 'scalar';
  return isJoined ? `Write "$join(${written}, ',')"` : `Write "$json(${written})"`;
}

/** `${ spec.host }}`: the second brace is part of the text. One that closes a brace of the text is meant: `{"a": ${ spec.a }}`. */
function warnAboutBraces(slot: Slot, { diagnostics }: CheckContext): void {
  const { leaf, text } = slot;
  if (leaf.kind !== 'text') return;
  let open = 0;
  for (const [index, part] of leaf.parts.entries()) {
    if (typeof part !== 'string') continue;
    const before = leaf.parts[index - 1];
    if (typeof before === 'object' && part.startsWith('}') && open === 0) {
      const end = text.indexOf('}', before.offset + before.source.length) + 1;
      diagnostics.report({
        severity: 'warning',
        code: 'suspicious-expression',
        message: 'The expression ends before this "}", which is part of the text',
        hint: 'Remove the brace',
        ...positionInLeaf(slot, end),
      });
    }
    for (const brace of part.match(/[{}]/g) ?? [])
      open = Math.max(0, open + (brace === '{' ? 1 : -1));
  }
}
