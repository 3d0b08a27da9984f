import { didYouMean } from '#util/did-you-mean.ts';
import { parseFieldPath } from '#util/field-path.ts';
import { pointerSteps, pointerTo } from '#util/json.ts';
import type { DependencyFinder } from '../analysis/dependencies.ts';
import type { CheckContext } from '../check-context.ts';
import { followedFunctions, type Reference } from '../language/index.ts';
import type { SchemaType } from '../schema/schema-type.ts';
import type { CompiledTemplate, Slot } from '../template/template.ts';
import { positionInLeaf } from '../template/values.ts';
import { isReportTemplate, type TemplateUse } from '../template-uses.ts';

/** Reports status fields that the schema of the resource lacks: the server would prune them silently. */
export function checkStatus({ definition, types, diagnostics }: CheckContext): void {
  const { status } = definition;
  const { resource, statusFields: fields } = types;
  if (hasNoStatus(resource)) {
    for (const name of Object.keys(status)) {
      const message = `The kind has no status, so "status.${name}" cannot be written`;
      const path = pointerTo('/spec/status', name);
      diagnostics.report({ code: 'unknown-path', message, path, at: 'key' });
    }
    return;
  }
  if (fields === undefined || fields.open) return;
  for (const name of Object.keys(status)) {
    if (fields.fields.has(name)) continue;
    diagnostics.report({
      code: 'unknown-path',
      message: `Unknown field "status.${name}"`,
      hint: didYouMean(name, fields.fields.keys()) ?? 'Add it to the status schema of the CRD',
      path: pointerTo('/spec/status', name),
      at: 'key',
    });
  }
}

/** For example a ConfigMap, which can be a `for` kind. */
function hasNoStatus(resource: SchemaType): boolean {
  return resource.kind === 'struct' && !resource.open && !resource.fields.has('status');
}

/**
 * Reports `$now()` and random values, also through vars, where each reconcile would change a child or a patch.
 * `when`, `ready`, `deleteWhen`, conditions and Events may use the time; `status` may use both. A template may use
 * them if the first value is kept: as a default of `observed`, or in a child with `updateStrategy: OnDelete`. Everywhere but in a name, the
 * time may be compared.
 */
export function checkSources({ templates, uses, diagnostics }: CheckContext): void {
  for (const use of templates) {
    const { role, template, child } = use;
    if (role === 'status' || role === 'var') continue;
    const inName = role === 'template' ? referencesIn(child?.name, uses) : noReferences;
    const isLeftAlone = role === 'template' && child?.definition.updateStrategy.type === 'OnDelete';
    const left = role === 'template' ? leftPointers(child) : [];
    const mayKeep = role === 'template' || isReportTemplate(use);
    for (const { slot, reference } of uses.of(template).references) {
      const { root, offset, isObservedDefault, isCompared, isNearComparison } = reference;
      if (root !== 'random' && (root !== 'now' || canUseTime(use))) continue;
      const isNaming = inName.has(reference);
      // The resource is reconciled when the result changes.
      const isFollowed = root === 'now' && isCompared === true;
      const isLeft = left.some((pointer) => isBelow(slot.pointer, pointer));
      const isKept = (mayKeep && isObservedDefault === true) || isLeftAlone || isLeft || isFollowed;
      if (isKept && !isNaming) continue;
      const what = root === 'now' ? 'The time' : 'A random value';
      diagnostics.report({
        code: 'forbidden-expression',
        message: `${what} differs in every reconcile and cannot be used in ${isNaming ? 'a name' : placeOf(use)}`,
        hint:
          isNaming || isReportTemplate(use)
            ? undefined
            : isNearComparison
              ? compareHint
              : keepHint(use, slot),
        ...positionInLeaf(slot, offset),
      });
    }
  }
}

/** The places of the template whose value counts only for a new object (`fields.leave`), without those in lists. */
function leftPointers(child: TemplateUse['child']): readonly string[] {
  const { leave = [] } = child?.definition ?? {};
  return leave.flatMap((path) => {
    const steps = parseFieldPath(path) ?? [];
    if (child === undefined || !steps.every((step) => typeof step === 'string')) return [];
    const forms = steps[0] === 'data' ? [steps, ['stringData', ...steps.slice(1)]] : [steps];
    return forms.map((form) => form.reduce<string>(pointerTo, child.template.pointer));
  });
}

function isBelow(pointer: string, parent: string): boolean {
  return pointer === parent || pointer.startsWith(`${parent}/`);
}

const compareHint = `Write "$now()" in the comparison itself, there only in ${followedFunctions.map((name) => `$${name}`).join(', ')} or with + - * / %`;

/** How the first value is kept: by its path in the object, if the expression is written in the template of a child. */
function keepHint({ role, child, template }: TemplateUse, { pointer }: Slot): string {
  const write = (value: string, field = '') =>
    `Write ${field}"observed.${value}" to keep the first value`;
  const isIn = role === 'template' && pointer.startsWith(`${template.pointer}/`);
  if (child === undefined || !isIn || child.forEach !== undefined)
    return write('<id>.<path> ?? ...');
  const { id, gvk } = child.definition;
  const [first = '', ...below] = pointerSteps(pointer.slice(template.pointer.length));
  // The API server never returns it.
  const isText = gvk.kind === 'Secret' && first === 'stringData';
  const path = pathText([id, isText ? 'data' : first, ...below]);
  return isText ? write(`${path} ?? $base64encode(...)`, '"data" with ') : write(`${path} ?? ...`);
}

/** A path as an expression. */
function pathText(steps: readonly string[]): string {
  const texts = steps.map((step) => {
    if (/^\d+$/.test(step)) return `[${step}]`;
    return /^[A-Za-z_]\w*$/.test(step) ? `.${step}` : `.\`${step}\``;
  });
  return texts.join('').slice(1);
}

const noReferences: ReadonlySet<Reference> = new Set();

/** Whether its expressions can use the time. */
function canUseTime(use: TemplateUse): boolean {
  const { role } = use;
  if (['when', 'ready', 'gate', 'deleteWhen'].includes(role)) return true;
  return isReportTemplate(use) && role !== 'patch';
}

function placeOf(use: TemplateUse): string {
  if (!isReportTemplate(use)) return 'a template';
  return use.role === 'patch' ? 'a patch' : 'conditions, Events and "requeueAfter"';
}

/** The references of an object name; a changed name would create another object. */
function referencesIn(
  template: CompiledTemplate | undefined,
  uses: DependencyFinder,
): ReadonlySet<Reference> {
  return new Set(uses.of(template).references.map(({ reference }) => reference));
}

/** Warns if `when` reads another child, also through vars: a restart of that child would delete this one. */
export function warnAboutWhen({ parts, uses, diagnostics }: CheckContext): void {
  for (const { definition, when, stage } of parts.children) {
    // Children of `onDelete` are not deleted before the resource.
    if (stage === 'onDelete') continue;
    for (const { slot, reference } of uses.of(when).references) {
      if (reference.root !== 'children') continue;
      const id = reference.path[0] ?? 'id';
      diagnostics.report({
        severity: 'warning',
        code: 'suspicious-expression',
        message: `"when" of child "${definition.id}" reads "children.${id}": a change of that child can delete this one`,
        hint: `Use "after: [${id}]" to wait for it`,
        ...positionInLeaf(slot, reference.offset),
      });
    }
  }
}
