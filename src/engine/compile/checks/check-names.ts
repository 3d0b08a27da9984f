import type { Finding } from '#definition';
import { didYouMean } from '#util/did-you-mean.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import type { CheckContext } from '../check-context.ts';
import type { SlotReference } from '../template/template.ts';
import { positionInLeaf } from '../template/values.ts';
import { canUsePrevious, listOfItems, type TemplateUse } from '../template-uses.ts';

type Named = 'children' | 'observed' | 'reads' | 'vars';
type Problem = Omit<Finding, 'path' | 'at'> & { readonly offset: number };

/** Reports names that do not exist, or cannot be used in the template. A name in a part that cannot be read may exist. */
export function checkNames({ parts, templates, document, diagnostics }: CheckContext): void {
  const ids = parts.children.map(({ definition }) => definition.id);
  const known: Readonly<Record<Named, readonly string[]>> = {
    children: ids,
    observed: ids,
    reads: parts.reads.map(({ definition }) => definition.id),
    vars: [...parts.vars.keys()],
  };
  for (const use of templates) {
    for (const each of use.template.references) {
      const problem = problemOf(each, { use, known, spec: document.spec });
      if (problem === undefined) continue;
      const { offset, ...rest } = problem;
      diagnostics.report({ ...rest, ...positionInLeaf(each.slot, offset) });
    }
  }
}

interface Context {
  readonly use: TemplateUse;
  readonly known: Readonly<Record<Named, readonly string[]>>;
  /** `spec` as it is written. */
  readonly spec: Json | undefined;
}

function problemOf(each: SlotReference, context: Context): Problem | undefined {
  const { reference } = each;
  switch (reference.root) {
    case 'children':
    case 'observed':
    case 'reads':
    case 'vars':
      return unknownId(each, reference.root, context);
    case 'item':
    case 'index':
      return missingForEach(each, context);
    case 'child':
      return canUseChild(context.use) ? undefined : misplacedChild(each);
    case 'previous':
      return canUsePrevious(context.use.role) ? undefined : misplacedPrevious(each, context.use);
    case 'cluster':
      return clusterField(each);
    default:
      return undefined;
  }
}

const clusterFields = ['name', 'labels'];

/** `$cluster` is no text. */
function clusterField({ reference }: SlotReference): Problem | undefined {
  const [field] = reference.path;
  const { offset, stepOffsets } = reference;
  if (field === undefined)
    return {
      code: 'wrong-type',
      message: '"$cluster" has the fields "name" and "labels"',
      hint: 'Write "$cluster.name"',
      offset,
    };
  if (clusterFields.includes(field)) return undefined;
  const message = `Unknown field "${field}" of "$cluster"`;
  const hint = didYouMean(field, clusterFields) ?? 'Write "$cluster.name" or "$cluster.labels"';
  return { code: 'unknown-path', message, hint, offset: stepOffsets[0] ?? offset };
}

function canUseChild({ role }: TemplateUse): boolean {
  return role === 'ready' || role === 'deleteWhen';
}

const singular: Readonly<Record<Named, string>> = {
  children: 'child',
  observed: 'child',
  reads: 'read',
  vars: 'var',
};

function unknownId(
  { reference }: SlotReference,
  root: Named,
  { known, spec }: Context,
): Problem | undefined {
  const [id] = reference.path;
  if (id === undefined || known[root].includes(id) || mayBeUnread(root, id, spec)) return undefined;
  const elsewhere = Object.entries(known).find(([, ids]) => ids.includes(id));
  return {
    code: 'unknown-name',
    message: `Unknown ${singular[root]} "${id}"`,
    hint:
      didYouMean(id, known[root]) ??
      (elsewhere === undefined ? undefined : `Did you mean "${elsewhere[0]}.${id}"?`),
    offset: reference.stepOffsets[0] ?? reference.offset,
  };
}

/** Whether a name may be in a part of the definition that was left out because of an error, which has a diagnostic of its own. */
function mayBeUnread(root: Named, id: string, spec: Json | undefined): boolean {
  if (!isJsonObject(spec)) return true;
  if (root === 'vars') return isUnread(spec, 'vars', isJsonObject);
  const lists =
    root === 'reads'
      ? [spec.reads]
      : [spec.children, isJsonObject(spec.onDelete) ? spec.onDelete.children : undefined];
  const section = root === 'reads' ? 'reads' : 'children';
  return (
    isUnread(spec, section, Array.isArray) ||
    lists.flat().some((item) => {
      if (item === undefined) return false;
      const written = isJsonObject(item) ? item.id : undefined;
      return typeof written !== 'string' || written === id;
    })
  );
}

/** Whether a section is no list or map, or has a mistyped name. */
function isUnread(
  spec: JsonObject,
  section: string,
  isReadable: (value: Json) => boolean,
): boolean {
  const value = spec[section];
  if (value !== undefined) return !isReadable(value);
  return Object.keys(spec).some((field) => didYouMean(field, [section]) !== undefined);
}

function missingForEach({ reference }: SlotReference, { use }: Context): Problem | undefined {
  const { role, patch } = use;
  const isInside = ['template', 'cluster', 'ready', 'gate', 'patch'].includes(role);
  if (isInside && listOfItems(use) !== undefined) return undefined;
  const name = `"$${reference.root}"`;
  const { offset } = reference;
  switch (role) {
    case 'kind':
      return {
        code: 'unknown-name',
        message: `${name} is not available in "apiVersion" and "kind"`,
        hint: 'All elements have one kind: write a child for each kind, each with a part of the list',
        offset,
      };
    case 'patchWhen':
      return {
        code: 'unknown-name',
        message: `${name} is not available in "when" of a patch`,
        hint: 'It is evaluated once, for all elements: filter the list of "forEach"',
        offset,
      };
    case 'var':
      return {
        code: 'unknown-name',
        message: `${name} is only available in a child or patch with "forEach"`,
        hint: 'A var has one value for all elements: move the expression to the child or patch',
        offset,
      };
    default: {
      const what = patch === undefined ? 'child' : 'patch';
      const message = `${name} is only available in a ${what} with "forEach"`;
      return { code: 'unknown-name', message, hint: undefined, offset };
    }
  }
}

function misplacedChild({ reference }: SlotReference): Problem {
  return {
    code: 'unknown-name',
    message: `"$child" is only available in "ready" and "deleteWhen"`,
    hint: 'Use "children.<id>" for another child',
    offset: reference.offset,
  };
}

function misplacedPrevious({ reference }: SlotReference, { role }: TemplateUse): Problem {
  return {
    code: 'unknown-name',
    message: '"$previous" is only available in "conditions", "events" and "patches"',
    hint:
      role === 'var' ? 'A var has one value for all phases: move the expression there' : undefined,
    offset: reference.offset,
  };
}
