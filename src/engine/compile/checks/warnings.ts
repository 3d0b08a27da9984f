import { pointerTo } from '#util/json.ts';
import { type PartOf, traceSecrets } from '../analysis/secret-flow.ts';
import type { CheckContext } from '../check-context.ts';
import { type CompiledChild, type CompiledTemplates, isSecret } from '../compiled-templates.ts';
import type { Reference } from '../language/index.ts';
import { requiredFields } from '../phase/reached-paths.ts';
import { mayBeMissing, type SchemaType, type StructField, typeAt } from '../schema/schema-type.ts';
import { typeName } from '../template/coerce.ts';
import {
  type CompiledTemplate,
  referencesOf,
  type Slot,
  type SlotReference,
} from '../template/template.ts';
import { positionInLeaf } from '../template/values.ts';
import { canUsePrevious, isCondition, type TemplateUse } from '../template-uses.ts';
import { defaultAdvice } from './default-advice.ts';

/** Warns if all elements of a `forEach` have the same name: two elements would then be an error. */
export function warnAboutNames({ parts, diagnostics }: CheckContext): void {
  for (const { definition, pointer, forEach, name, namespace } of parts.reporting.patches) {
    // Without a target it is rejected.
    if (definition.target === undefined || forEach === undefined || !mayBeMany(forEach)) continue;
    const references = [name, namespace].flatMap((each) => each?.references ?? []);
    if (references.some(isOfElement)) continue;
    diagnostics.report({
      severity: 'warning',
      code: 'suspicious-expression',
      message: `All elements of patch "${definition.id}" have the same target; two elements are an error`,
      hint: 'Use "$item" or "$index" in the name or the namespace',
      path: pointerTo(pointerTo(pointer, 'target'), 'name'),
    });
  }
  for (const child of parts.children) {
    if (child.forEach === undefined || !mayBeMany(child.forEach) || isNamedByElement(child))
      continue;
    diagnostics.report({
      severity: 'warning',
      code: 'suspicious-expression',
      message: `All elements of child "${child.definition.id}" have the same name; two elements are an error`,
      hint: 'Use "$item" or "$index" in the name',
      path: pointerTo(pointerTo(child.template.pointer, 'metadata'), 'name'),
    });
  }
}

function mayBeMany({ root }: CompiledTemplate): boolean {
  switch (root.kind) {
    case 'slot':
      return true;
    case 'list':
      return root.items.length > 1 || root.items.some(({ isSpread }) => isSpread);
    case 'constant':
      return Array.isArray(root.value) && root.value.length > 1;
    case 'map':
      return false;
  }
}

/** Whether name, namespace or cluster depend on the element. */
function isNamedByElement({ template, cluster }: CompiledChild): boolean {
  const placed = cluster?.references ?? [];
  if (placed.some(isOfElement)) return true;
  const metadata = pointerTo(template.pointer, 'metadata');
  const places: readonly string[] = [
    template.pointer,
    metadata,
    ...['name', 'namespace'].map((field) => pointerTo(metadata, field)),
  ];
  return template.references.some(
    (each) => isOfElement(each) && places.includes(each.slot.pointer),
  );
}

function isOfElement({ reference: { root } }: SlotReference): boolean {
  return root === 'item' || root === 'index';
}

/**
 * Warns about `$previous` paths outside the status, which equal those of the resource: a reconcile changes only the
 * status.
 */
export function warnAboutPrevious({ templates, diagnostics }: CheckContext): void {
  for (const { role, template } of templates) {
    if (!canUsePrevious(role)) continue;
    for (const { slot, reference } of template.references) {
      const [field] = reference.path;
      if (reference.root !== 'previous' || field === undefined || field === 'status') continue;
      const name = reference.path.join('.');
      diagnostics.report({
        severity: 'warning',
        code: 'suspicious-expression',
        message: `"$previous.${name}" always equals "${name}": a reconcile changes only the status`,
        hint: 'Map the value to a status field, and compare with "$previous.status"',
        ...positionInLeaf(slot, reference.offset),
      });
    }
  }
}

/**
 * Warns if users who can create the resource choose a Secret whose values end up in objects they can read without
 * permission on the Secret.
 */
export function warnAboutSecrets(context: CheckContext): void {
  const { parts, uses, definition, diagnostics } = context;
  for (const read of parts.reads) {
    const chosen = read.name ?? read.selector?.whole;
    if (chosen === undefined || !isSecret(read.definition.gvk)) continue;
    if (!uses.of(chosen).references.some(({ reference }) => reference.root === 'resource'))
      continue;
    const flow = traceSecrets(context, { readId: read.definition.id, into: 'objects' });
    const target = targetsOf(context).find(({ template, part }) => flow.reaches([template], part));
    if (target === undefined) continue;
    diagnostics.report({
      severity: 'warning',
      code: 'suspicious-expression',
      message: `Users who can create a ${definition.kind.gvk.kind} can read every Secret of its namespace through ${target.where}`,
      hint: 'Use a literal Secret name, or reference the Secret by name in the child',
      path: chosen.pointer,
    });
  }
}

/** Warns about a patch with an earlier state that is sent whenever the object differs: it would undo every edit. */
export function warnAboutRestores({ parts, uses, diagnostics }: CheckContext): void {
  for (const { definition, pointer, patch, when, once } of parts.reporting.patches) {
    if (when !== undefined || once !== undefined || !uses.of(patch).history) continue;
    diagnostics.report({
      severity: 'warning',
      code: 'suspicious-expression',
      message: `Patch "${definition.id}" would undo every edit: it restores an earlier state whenever the object differs`,
      hint: 'Add "once" with the value that requests the restore, such as "${ spec.rollback }"',
      path: pointerTo(pointer, 'patch'),
      at: 'key',
    });
  }
}

interface Target {
  readonly where: string;
  /** The child or patch whose template it is. */
  readonly part?: PartOf;
  readonly template: CompiledTemplate;
}

function targetsOf({ parts, templates }: CheckContext): readonly Target[] {
  return [
    ...[...parts.status].map(([name, template]) => ({ where: `"status.${name}"`, template })),
    ...reportTargets({ parts, templates }),
    ...parts.children.map(({ definition, template }) => ({
      where: `child "${definition.id}"`,
      part: { childId: definition.id },
      template,
    })),
  ];
}

function reportTargets({
  parts,
  templates,
}: Pick<CheckContext, 'parts' | 'templates'>): readonly Target[] {
  return [
    ...templates.flatMap(({ role, template }) =>
      role === 'condition' || role === 'event' ? [{ where: `its ${role}s`, template }] : [],
    ),
    ...parts.reporting.patches.map(({ definition, patch }) => ({
      where: `patch "${definition.id}"`,
      part: { patchId: definition.id },
      template: patch,
    })),
  ];
}

/** Warns about the version of the resource, which its status changes: what is made of it would be written for ever. */
export function warnAboutVersions({ templates, types, diagnostics }: CheckContext): void {
  const { root } = types;
  // Such a kind (ConfigMap) has no generation either, and its version is the only mark of a change.
  if (root.kind === 'struct' && !root.fields.has('status') && !root.open) return;
  for (const { template } of templates) {
    for (const { slot, reference } of template.references) {
      const { root, path } = reference;
      if (root !== 'resource' || path.join('.') !== 'metadata.resourceVersion') continue;
      diagnostics.report({
        severity: 'warning',
        code: 'suspicious-expression',
        message: '"metadata.resourceVersion" changes with every write of the status',
        hint: 'Read "metadata.generation", which changes with the spec only',
        ...positionInLeaf(slot, reference.offset),
      });
    }
  }
}

/**
 * The server omits some integers of built-in kinds when they are zero: `status.readyReplicas` of a Deployment without
 * ready Pods is missing. Warns where such a path is used as a value or an operand without `?? 0`.
 */
export function warnAboutZeros({ parts, templates, diagnostics }: CheckContext): void {
  for (const use of templates) {
    for (const { slot, reference } of use.template.references) {
      if (!isDroppedZero(reference, use, parts) || !needsValue(slot, reference)) continue;
      const { root, path } = reference;
      const name = [root === 'child' ? '$child' : root, ...path].join('.');
      diagnostics.report({
        severity: 'warning',
        code: 'suspicious-expression',
        message: `"${name}" is missing when it is zero`,
        hint: `Write "(${name} ?? 0)"`,
        ...positionInLeaf(slot, reference.offset),
      });
    }
  }
}

/**
 * Reports a condition that is a resource field of another type than boolean, and warns about a boolean that may be missing: `when: ${
 * spec.host }` does not test for existence.
 */
export function checkConditions({ templates, types, diagnostics }: CheckContext): void {
  for (const use of templates) {
    if (!isCondition(use)) continue;
    for (const { slot, reference } of use.template.references) {
      const { leaf } = slot;
      if (leaf.kind !== 'value' || !leaf.expression.isPlainPath || reference.root !== 'resource')
        continue;
      const type = typeAt(types.root, reference.path);
      if (type === undefined) continue;
      const name = reference.path.join('.');
      const position = positionInLeaf(slot, reference.offset);
      if (!mayBeBoolean(type))
        diagnostics.report({
          code: 'wrong-type',
          message: `Expected a boolean, but "${name}" is ${typeName(type)}`,
          hint: `Write "$exists(${name})", or compare it with a value`,
          ...position,
        });
      else if (type.kind === 'scalar' && mayBeMissing(types.root, reference.path))
        diagnostics.report({
          severity: 'warning',
          code: 'suspicious-expression',
          message: `"${name}" is an error if the field is missing`,
          hint: `Write "${name} ?? false", or ${defaultAdvice(types.root, reference.path)}`,
          ...position,
        });
    }
  }
}

/** Warns about `forEach` over an optional field: a missing list is an error, never an empty one. A `when` that reads it may test for it. */
export function warnAboutOptionalLists(context: CheckContext): void {
  const {
    definition: { kind },
    parts,
    types,
    uses,
    diagnostics,
  } = context;
  // The server has defaults for fields of built-in kinds.
  if (kind.source !== 'crd') return;
  const isOptional = (path: readonly string[]) =>
    path[0] === 'spec' && mayBeMissing(types.root, path);
  const lists = [
    ...parts.children.map((each) => ({ ...each, what: 'child', none: 'objects' })),
    ...parts.reporting.patches.map((each) => ({ ...each, what: 'patch', none: 'targets' })),
  ];
  for (const { definition, forEach, when, what, none } of lists) {
    if (forEach === undefined) continue;
    const read = uses.of(forEach).references;
    if (!read.some(({ reference: { root, path } }) => root === 'resource' && isOptional(path)))
      continue;
    const tested = uses.of(when).references.map(({ reference }) => nameOf(reference));
    for (const { slot, path } of requiredFields(forEach, parts.vars)) {
      const name = path.join('.');
      if (tested.includes(name) || !isOptional(path)) continue;
      const type = typeAt(types.root, path);
      const isNumber = type?.kind === 'scalar';
      const isMap = type?.kind === 'map';
      // Reported as no list.
      if ((isNumber || isMap) && slot.leaf.kind === 'value' && slot.leaf.expression.isPlainPath)
        continue;
      const found = referencesOf([slot]).find(({ reference }) =>
        nameOf(reference).startsWith(name),
      );
      diagnostics.report({
        severity: 'warning',
        code: 'suspicious-expression',
        message: `"${name}" is optional, and "forEach" of ${what} "${definition.id}" fails without it`,
        hint: `Write "(${name} ?? ${isNumber ? '0' : isMap ? '{}' : '[]'})" if no value means no ${none}, or ${defaultAdvice(types.root, path)}`,
        ...positionInLeaf(slot, found?.reference.offset ?? 0),
      });
    }
  }
}

function nameOf({ path }: Reference): string {
  return path.join('.');
}

function mayBeBoolean(type: SchemaType): boolean {
  if (type.kind === 'any') return true;
  return (
    type.kind === 'scalar' && type.accepts.some((name) => name === 'boolean' || name === 'unknown')
  );
}

function isDroppedZero(
  { root, path }: Reference,
  { child }: TemplateUse,
  parts: CompiledTemplates,
): boolean {
  if (root === 'child') return endsInZero(child?.type, path);
  const [id, ...below] = path;
  if (root === 'children' || root === 'observed') {
    const found = parts.children.find(({ definition }) => definition.id === id);
    return found?.forEach === undefined && endsInZero(found?.type, below);
  }
  const read =
    root === 'reads' ? parts.reads.find(({ definition }) => definition.id === id) : undefined;
  return read?.isList === false && endsInZero(read.type, below);
}

function endsInZero(start: SchemaType | undefined, path: readonly string[]): boolean {
  // Generations start at 1; a missing one is unknown.
  if (path.at(-1)?.toLowerCase().endsWith('generation')) return false;
  let type = start;
  let isZero = false;
  for (const step of path) {
    // A path through a list has several values, which one default cannot replace.
    if (type?.kind !== 'struct') return false;
    const field: StructField | undefined = type.fields.get(step);
    isZero = type.droppedZeros.has(step);
    type = field?.type;
  }
  return isZero && type?.kind === 'scalar' && type.accepts.includes('integer');
}

/** Whether the reference is the whole expression or an operand. Functions and `??` handle missing values. */
export function needsValue(
  { leaf, text }: Slot,
  { offset, path, stepOffsets }: Reference,
): boolean {
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
