import type { DefinitionParts } from '../definition-parts.ts';
import type { Diagnostics } from '../diagnostics.ts';
import type { Reference } from '../language/index.ts';
import type { SchemaType, StructField } from '../schema/schema-type.ts';
import { positionInLeaf } from '../template/slot-position.ts';
import { referencesOf, type Slot } from '../template/template.ts';
import { type TemplateUse, templateUses } from './template-use.ts';

/**
 * The server leaves some integers of built-in kinds out when they are zero: `status.readyReplicas` of a Deployment without
 * ready Pods is a missing value. Where such a path is compared, reckoned with or used as it is, `?? 0` says what is meant.
 */
export function warnAboutZeros(parts: DefinitionParts, diagnostics: Diagnostics): void {
  for (const use of templateUses(parts)) {
    for (const { slot, reference } of referencesOf(use.template)) {
      if (!isDroppedZero(reference, use, parts) || !needsValue(slot, reference)) continue;
      const { root, path } = reference;
      const name = [root === 'child' ? '$child' : root, ...path].join('.');
      diagnostics.report({
        severity: 'warning',
        code: 'suspicious-expression',
        message: `"${name}" is a missing value while it is zero`,
        hint: `Write "(${name} ?? 0)"`,
        ...positionInLeaf(slot, reference.offset),
      });
    }
  }
}

function isDroppedZero(
  { root, path }: Reference,
  { child }: TemplateUse,
  parts: DefinitionParts,
): boolean {
  if (root === 'child') return endsInZero(child?.type, path);
  const [id, ...below] = path;
  if (root === 'children' || root === 'observed') {
    const found = parts.children.find(({ definition }) => definition.id === id);
    return found?.forEach === undefined && endsInZero(found?.type, below);
  }
  const read =
    root === 'reads' ? parts.reads.find(({ definition }) => definition.id === id) : undefined;
  return read?.name !== undefined && endsInZero(read.type, below);
}

function endsInZero(start: SchemaType | undefined, path: readonly string[]): boolean {
  // Generations begin at 1; one that is not there is not known.
  if (path.at(-1)?.toLowerCase().endsWith('generation')) return false;
  let type = start;
  let isZero = false;
  for (const step of path) {
    // Below a list there are many of them, which one default cannot mean.
    if (type?.kind !== 'struct') return false;
    const field: StructField | undefined = type.fields.get(step);
    isZero = type.zeros.has(step);
    type = field?.type;
  }
  return isZero && type?.kind === 'scalar' && type.accepts.includes('integer');
}

/** Is it the whole expression, or an operand? Functions and `??` know how to do without a value. */
function needsValue({ leaf, text }: Slot, { offset, path, stepOffsets }: Reference): boolean {
  if (leaf.kind === 'handlebars' || (leaf.kind === 'value' && leaf.mode === 'optional'))
    return false;
  const last = stepOffsets.at(-1) ?? offset;
  const quotes = text.charAt(last) === '`' ? 2 : 0;
  const behind = text.slice(last + (path.at(-1)?.length ?? 0) + quotes).trimStart();
  const before = text.slice(0, offset).trimEnd();
  if (behind.startsWith('??') || behind.startsWith('?:')) return false;
  const isWhole = behind.startsWith('}') && before.endsWith('${');
  return isWhole || /^(?:!?=|[<>+\-*/%])/.test(behind) || /[=<>+\-*/%]$/.test(before);
}
