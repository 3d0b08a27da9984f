import { isJsonObject, pointerTo } from '#util/json.ts';
import type { CheckContext } from '../check-context.ts';
import { typeAt } from '../schema/schema-type.ts';

/** Fields of Kubernetes whose values are paths: of an environment variable, and of a term that selects nodes. */
const pathFields = new Set(['fieldPath', 'key', 'jsonPath']);
const plainPath = /^\$?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/;
/** A path in a longer text, as variables of a shell are written. */
const pathInText =
  /(?<![$\\\w])\$((?:spec|status|metadata|vars|children|observed|reads)(?:\.[A-Za-z_]\w*)+)/g;

/** Warns about a text that is the path of a value, and about a path in a text: `image: spec.image`, `host: www.$spec.domain`. */
export function warnAboutPlainPaths(context: CheckContext): void {
  for (const { text, path, hasItem } of textsOf(context)) {
    if (isKnownPath(text, hasItem, context)) {
      context.diagnostics.report({
        severity: 'warning',
        code: 'suspicious-expression',
        message: `"${text}" is this text, not the value at this path`,
        hint: `Write "\${ ${text} }", or "{ $literal: ${text} }" for the text`,
        path,
      });
      continue;
    }
    for (const { index, path: whole } of pathsIn(text)) {
      const written = knownPart(whole, context);
      if (written === undefined) continue;
      context.diagnostics.report({
        severity: 'warning',
        code: 'suspicious-expression',
        message: `"$${written}" is part of this text, not the value at this path`,
        hint: `Write "\${ ${written} }"`,
        path,
        at: index,
      });
    }
  }
}

interface LocatedText {
  readonly text: string;
  readonly path: string;
  /** Whether the text may use `$item`. */
  readonly hasItem: boolean;
}

function* textsOf({ definition, parts }: CheckContext): Generator<LocatedText> {
  for (const section of ['vars', 'status'] as const)
    for (const [name, tree] of Object.entries(definition[section]))
      yield* textsIn(tree, pointerTo(`/spec/${section}`, name), { hasItem: false });
  for (const { definition: child, template, forEach } of parts.children)
    yield* textsIn(child.template, template.pointer, { hasItem: forEach !== undefined });
  const { conditions = [], events = [] } = definition.reporting ?? {};
  const reports = { conditions, events };
  for (const section of ['conditions', 'events'] as const)
    for (const [index, { message }] of reports[section].entries()) {
      const pointer = pointerTo(pointerTo(`/spec/${section}`, index), 'message');
      yield* textsIn(message, pointer, { hasItem: false });
    }
}

/** The texts of a template. Those that cannot be paths are left out. */
function* textsIn(
  tree: unknown,
  path: string,
  { field = '', hasItem }: { readonly field?: string; readonly hasItem: boolean },
): Generator<LocatedText> {
  if (typeof tree === 'string') {
    if (!pathFields.has(field)) yield { text: tree, path, hasItem };
  } else if (Array.isArray(tree)) {
    for (const [index, item] of tree.entries())
      yield* textsIn(item, pointerTo(path, index), { field, hasItem });
  } else if (isJsonObject(tree) && !Object.hasOwn(tree, '$literal')) {
    for (const [key, value] of Object.entries(tree))
      yield* textsIn(value, pointerTo(path, key), { field: key, hasItem });
  }
}

/** The longest path of a value that a path begins with: that of `$spec.host.example.com` is `spec.host`. */
function knownPart(path: string, context: CheckContext): string | undefined {
  const steps = path.split('.');
  for (let length = steps.length; length > 1; length--) {
    const part = steps.slice(0, length).join('.');
    if (isKnownPath(part, false, context)) return part;
  }
  return undefined;
}

/** The paths in a text that are written after `$`, without those in its expressions. */
function* pathsIn(text: string): Generator<{ readonly index: number; readonly path: string }> {
  if (!text.includes('$')) return;
  const literal = text.replaceAll(/\$?\$\{[^}]*\}|\{\{.*?\}\}/gs, (part) =>
    ' '.repeat(part.length),
  );
  for (const { index, 1: path = '' } of literal.matchAll(pathInText)) yield { index, path };
}

function isKnownPath(
  text: string,
  hasItem: boolean,
  { definition, parts, types }: CheckContext,
): boolean {
  if (!plainPath.test(text)) return false;
  const steps = text.split('.');
  const [root = '', name = ''] = steps;
  switch (root) {
    case 'spec':
    case 'status':
    case 'metadata':
      return steps.length > 1 && typeAt(types.resource, steps) !== undefined;
    case 'vars':
      return Object.hasOwn(definition.vars, name);
    case 'children':
    case 'observed':
      return parts.children.some((child) => child.definition.id === name);
    case 'reads':
      return parts.reads.some((read) => read.definition.id === name);
    case '$item':
    case '$index':
      return hasItem;
    default:
      return false;
  }
}
