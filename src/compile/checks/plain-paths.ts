import { isJsonObject, pointerTo } from '../../util/json.ts';
import type { CheckContext } from '../check-context.ts';
import { typeAt } from '../schema/schema-type.ts';

/** Fields of Kubernetes whose values are paths: of an environment variable, and of a term that selects nodes. */
const pathFields = new Set(['fieldPath', 'key', 'jsonPath']);
const plainPath = /^\$?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/;

/** Warns about a text that is the path of a value: `image: spec.image` is this very text. */
export function warnAboutPlainPaths(context: CheckContext): void {
  const { definition, parts, diagnostics } = context;
  const templates = [
    ...Object.entries(definition.vars).map(([name, tree]) => ({ tree, section: 'vars', name })),
    ...Object.entries(definition.status).map(([name, tree]) => ({ tree, section: 'status', name })),
  ].map(({ tree, section, name }) => ({
    tree,
    pointer: pointerTo(`/spec/${section}`, name),
    hasItem: false,
  }));
  const children = parts.children.map((child) => ({
    tree: child.definition.template,
    pointer: child.template.pointer,
    hasItem: child.forEach !== undefined,
  }));
  for (const { tree, pointer, hasItem } of [...templates, ...children])
    for (const { text, path } of textsIn(tree, pointer)) {
      if (!isKnownPath(text, hasItem, context)) continue;
      diagnostics.report({
        severity: 'warning',
        code: 'suspicious-expression',
        message: `"${text}" is this text, not the value at this path`,
        hint: `Write "\${ ${text} }", or "{ $literal: ${text} }" for the text`,
        path,
      });
    }
}

interface LocatedText {
  readonly text: string;
  readonly path: string;
}

/** The texts of a template that may be paths. */
function* textsIn(tree: unknown, path: string, field = ''): Generator<LocatedText> {
  if (typeof tree === 'string') {
    if (plainPath.test(tree) && !pathFields.has(field)) yield { text: tree, path };
  } else if (Array.isArray(tree)) {
    for (const [index, item] of tree.entries()) yield* textsIn(item, pointerTo(path, index), field);
  } else if (isJsonObject(tree) && !Object.hasOwn(tree, '$literal')) {
    for (const [key, value] of Object.entries(tree))
      yield* textsIn(value, pointerTo(path, key), key);
  }
}

function isKnownPath(
  text: string,
  hasItem: boolean,
  { definition, parts, types }: CheckContext,
): boolean {
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
