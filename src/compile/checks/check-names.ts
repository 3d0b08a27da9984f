import type { Finding } from '../../definition/index.ts';
import { didYouMean } from '../../util/did-you-mean.ts';
import type { DefinitionParts } from '../definition-parts.ts';
import type { Diagnostics } from '../diagnostics.ts';
import { positionInLeaf } from '../template/slot-position.ts';
import { referencesOf, type SlotReference } from '../template/template.ts';
import { type TemplateUse, templateUses } from './template-use.ts';

type Named = 'children' | 'reads' | 'vars';
type Problem = Omit<Finding, 'path' | 'at'> & { readonly offset: number };

/** Reports names that do not exist, or not where they are used. */
export function checkNames(parts: DefinitionParts, diagnostics: Diagnostics): void {
  const known: Readonly<Record<Named, readonly string[]>> = {
    children: parts.children.map(({ definition }) => definition.id),
    reads: parts.reads.map(({ definition }) => definition.id),
    vars: [...parts.vars.keys()],
  };
  for (const use of templateUses(parts)) {
    const references = referencesOf(use.template);
    for (const each of references) {
      const problem = problemOf(each, { use, known, references });
      if (problem === undefined) continue;
      const { offset, ...mistake } = problem;
      diagnostics.report({ ...mistake, ...positionInLeaf(each.slot, offset) });
    }
  }
}

interface Context {
  readonly use: TemplateUse;
  readonly known: Readonly<Record<Named, readonly string[]>>;
  readonly references: readonly SlotReference[];
}

function problemOf(each: SlotReference, context: Context): Problem | undefined {
  const { reference } = each;
  switch (reference.root) {
    case 'children':
    case 'reads':
    case 'vars':
      return unknownId(each, reference.root, context);
    case 'item':
    case 'index':
      return missingForEach(each, context);
    case 'child':
      return context.use.role === 'ready' ? undefined : misplacedChild(each);
    case 'previous':
      return notYet(each, '$previous', 'It is there in "conditions", "events" and "patches"');
    case 'observed':
      // A part of "everything", which other references of the same place stand for.
      if (isPartOfEverything(each, context)) return undefined;
      return notYet(each, 'observed', undefined);
    default:
      return undefined;
  }
}

const singular: Readonly<Record<Named, string>> = {
  children: 'child',
  reads: 'read',
  vars: 'var',
};

function unknownId(
  { reference }: SlotReference,
  root: Named,
  { known }: Context,
): Problem | undefined {
  const [id] = reference.path;
  if (id === undefined || known[root].includes(id)) return undefined;
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

function missingForEach({ reference }: SlotReference, { use }: Context): Problem | undefined {
  const { role, child } = use;
  const isInside = role === 'template' || role === 'ready';
  if (isInside && child?.forEach !== undefined) return undefined;
  return {
    code: 'unknown-name',
    message: `"$${reference.root}" is there only inside a child with "forEach"`,
    hint:
      role === 'var' ? 'A var is the same for all elements: write the expression there' : undefined,
    offset: reference.offset,
  };
}

function misplacedChild({ reference }: SlotReference): Problem {
  return {
    code: 'unknown-name',
    message: `"$child" is there only inside of "ready"`,
    hint: 'Another child is "children.<id>"',
    offset: reference.offset,
  };
}

function notYet({ reference }: SlotReference, name: string, hint: string | undefined): Problem {
  const message = `"${name}" is not supported yet`;
  return { code: 'not-supported-yet', message, hint, offset: reference.offset };
}

function isPartOfEverything({ slot, reference }: SlotReference, { references }: Context): boolean {
  const { path, offset } = reference;
  return (
    path.length === 0 &&
    references.some(
      (other) =>
        other.slot === slot &&
        other.reference.root === 'resource' &&
        other.reference.offset === offset &&
        other.reference.path.length === 0,
    )
  );
}
