import type { CheckContext } from '../check-context.ts';
import { type CompiledChild, variantsOf } from '../compiled-templates.ts';
import { type ElementPath, helmValueHint, type Reference } from '../language/index.ts';
import { isHistoryField } from '../schema/history-type.ts';
import { type SchemaType, throughLists } from '../schema/schema-type.ts';
import { expressionsOf, type Slot } from '../template/template.ts';
import { positionInLeaf } from '../template/values.ts';
import { canUsePrevious, listOfItems, type TemplateUse } from '../template-uses.ts';
import { itemTypeOf, typesOf } from './check-types.ts';
import { type Problem, problemAt, rootNames, walkNames, walkType, walkVar } from './walk-path.ts';

/** Reports paths that the schema of the resource, of a child or of a read lacks. */
export function checkPaths(context: CheckContext): void {
  const { parts, templates, types, diagnostics } = context;
  const children = new Map(parts.children.map((child) => [child.definition.id, child]));
  const reads = new Map(parts.reads.map((read) => [read.definition.id, read.type]));

  /** `history` is a list, and is available only in a definition that keeps versions. */
  function historyProblem(reference: Reference): Problem | undefined {
    const [root, id = ''] = reference.path;
    if (root !== 'history') return undefined;
    if (types.root === types.resource) {
      const problem = walkType(reference, { type: types.resource, from: 0 });
      const hint = 'Keep versions with "history: {}" in a read';
      return problem && { ...problem, hint };
    }
    if (!reads.has(id) || isHistoryField(id)) return undefined;
    return problemAt(reference, 1, {
      message: '"history" is a list, not a map by read',
      hint: `Write \`history[read = "${id}"]\``,
    });
  }

  function problemOf(reference: Reference, use: TemplateUse, slot: Slot): Problem | undefined {
    const { root, path } = reference;
    const [id = ''] = path;
    const isTemplate = slot.leaf.kind === 'handlebars';
    switch (root) {
      case 'resource':
        return (
          historyProblem(reference) ??
          withRootHint(
            walkType(reference, { type: types.root, from: 0, more: rootNames, isTemplate }),
            reference,
            context,
          )
        );
      case 'previous':
        return canUsePrevious(use.role)
          ? walkType(reference, { type: types.resource, from: 0 })
          : undefined;
      case 'children':
      case 'observed':
        return walkChild(reference, children.get(id), 1);
      case 'reads':
        return walkObject(reference, reads.get(id), 1);
      case 'child':
        return walkChild(reference, use.child, 0);
      case 'item':
        return walkType(reference, { type: itemTypeOf(listOfItems(use), context), from: 0 });
      case 'vars':
        return walkVar(reference, parts.vars.get(id)?.root);
      case 'definition':
        return walkNames(reference, definitionFields);
      default:
        return undefined;
    }
  }

  for (const use of templates) {
    const found = use.template.references.map((each) => ({
      ...each,
      problem: problemOf(each.reference, use, each.slot),
    }));
    for (const { slot, reference, problem } of found) {
      if (problem === undefined || isAfterMixedValue(reference, problem)) continue;
      const { offset, endOfMeant: _, ...rest } = problem;
      // `tag` of `spec.image-tag`, which is reported as a whole.
      const isPart = found.some(
        (other) =>
          other.slot === slot &&
          other.problem?.endOfMeant !== undefined &&
          other.problem.offset < offset &&
          offset < other.problem.endOfMeant,
      );
      if (isPart) continue;
      // The same step may be valid for another value: `(a ? children.x : children.y).status.z`.
      const isElsewhere = found.some(
        (other) =>
          other.slot === slot &&
          other.problem === undefined &&
          other.reference.stepOffsets.includes(offset),
      );
      if (!isElsewhere) diagnostics.report({ ...rest, ...positionInLeaf(slot, offset) });
    }
    for (const slot of use.template.slots) {
      for (const found of expressionsOf(slot.leaf).flatMap(({ elementPaths }) => elementPaths)) {
        const problem = elementProblem(found, use, context);
        if (problem === undefined) continue;
        const { offset, ...rest } = problem;
        diagnostics.report({ ...rest, ...positionInLeaf(slot, offset) });
      }
    }
  }
}

/** A path inside `each`, of elements whose type is known. */
function elementProblem(
  { of, ...found }: ElementPath,
  use: TemplateUse,
  context: CheckContext,
): Problem | undefined {
  const list = { ...of, exact: true, offset: found.offset, stepOffsets: [] };
  const [type, ...others] = typesOf(list, use, context);
  if (others.length > 0 || (type?.kind !== 'list' && type?.kind !== 'map')) return undefined;
  const walk = { type: type.item, from: 0, isTemplate: true };
  const problem = walkType({ root: 'this', ...found }, walk);
  const hint = type.item.kind === 'scalar' ? 'Write "this" for the element' : undefined;
  return problem && { ...problem, hint: problem.hint ?? hint };
}

/** Suggests what the first name probably means: `$item` for `item`, `spec.size` for `size` and for kro's `schema.spec.size`. */
function withRootHint(
  problem: Problem | undefined,
  { path: [id = '', ...rest], offset }: Reference,
  context: Pick<CheckContext, 'types' | 'parts'>,
): Problem | undefined {
  if (problem?.offset !== offset) return problem;
  const helm = helmValueHint(id, rest.join('.'));
  if (helm !== undefined) return { ...problem, hint: helm };
  const meant = variables.includes(id) ? `$${id}` : fieldMeant(id, rest, context);
  return meant === undefined ? problem : { ...problem, hint: `Did you mean "${meant}"?` };
}

/** With the root of what has this name; for other names before `spec`, such as `self` and kro's `schema`, without them. */
function fieldMeant(
  id: string,
  rest: readonly string[],
  { types, parts }: Pick<CheckContext, 'types' | 'parts'>,
): string | undefined {
  const fields = fieldsOfStruct(types.resource);
  const spec = fieldsOfStruct(throughLists(fields?.get('spec')?.type));
  const metadata = fieldsOfStruct(fields?.get('metadata')?.type);
  const root = [
    { name: 'spec', has: spec?.has(id) },
    { name: 'vars', has: parts.vars.has(id) },
    { name: 'children', has: parts.children.some(({ definition }) => definition.id === id) },
    { name: 'reads', has: parts.reads.some(({ definition }) => definition.id === id) },
    { name: 'metadata', has: metadata?.has(id) },
  ].find(({ has }) => has);
  if (root !== undefined) return [root.name, id, ...rest].join('.');
  const isBefore = rest.length > 1 && ['spec', 'status', 'metadata'].includes(rest[0] ?? '');
  return isBefore ? rest.join('.') : undefined;
}

function fieldsOfStruct(type: SchemaType | undefined) {
  return type?.kind === 'struct' ? type.fields : undefined;
}

/** A path of a child that may have several kinds is a field of one of them. */
function walkChild(
  reference: Reference,
  child: CompiledChild | undefined,
  from: number,
): Problem | undefined {
  if (child === undefined) return undefined;
  const problems = variantsOf(child).map(({ type }) => walkObject(reference, type, from));
  return problems.includes(undefined) ? undefined : problems[0];
}

/** Like {@link walkType}, for objects of the cluster: some of their fields are never returned by the API server. */
function walkObject(
  reference: Reference,
  type: SchemaType | undefined,
  from: number,
): Problem | undefined {
  const isSecret = type?.kind === 'struct' && type.name === 'io.k8s.api.core.v1.Secret';
  if (isSecret && reference.path[from] === 'stringData')
    return problemAt(reference, from, {
      message:
        'The API server never returns "stringData" of a Secret: it stores the values in "data"',
      hint: 'Read "data", and write "data" with "$base64encode(...)"',
    });
  return walkType(reference, { type, from });
}

/** Whether other values are possible at this step. */
function isAfterMixedValue({ mixedFrom, stepOffsets }: Reference, { offset }: Problem): boolean {
  return mixedFrom !== undefined && stepOffsets.indexOf(offset) >= mixedFrom;
}

const variables = ['item', 'index', 'child', 'previous', 'self', 'definition', 'cluster'];
const definitionFields = ['name', 'revision'];
