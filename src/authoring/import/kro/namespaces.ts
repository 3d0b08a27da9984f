import { isJsonObject, type Json } from '#util/json.ts';
import { childPermission } from '../permission.ts';
import type { GraphResource } from './graph.ts';
import type { GraphContext } from './scope.ts';
import { piecesOf } from './text-pieces.ts';

/** Is this text the namespace of the resource? */
export function isOwnNamespace(text: unknown): boolean {
  return typeof text === 'string' && /^\s*\$\{\s*schema\.metadata\.namespace\s*\}\s*$/.test(text);
}

/** `crossNamespace` of a child. Undefined: it is in the namespace of its resource. */
export function permissionOfChild(
  { gvk, body }: GraphResource,
  context: GraphContext,
  notes: Set<string>,
): Json | undefined {
  const metadata = isJsonObject(body.metadata) ? body.metadata : {};
  return childPermission(gvk, metadata, {
    isNamespaced: context.isNamespaced,
    permissionFor: (place) =>
      isOwnNamespace(place) ? undefined : permissionFor(place, context, notes),
  });
}

/** `true` for a literal namespace, globs for a computed one. */
export function permissionFor(place: string, context: GraphContext, notes: Set<string>): Json {
  if (!place.includes('${')) return true;
  const glob = globOf(place, context);
  notes.add(
    glob === '*'
      ? '"crossNamespace" allows all namespaces, as the namespace is computed'
      : `"crossNamespace" allows only namespaces like "${glob}"`,
  );
  return { namespaces: [glob] };
}

/** The literals of a text with `*` between them. The name of a Namespace of the graph is followed to its text. */
function globOf(text: string, context: GraphContext): string {
  const pieces = piecesOf(text.trim());
  const [only] = pieces;
  const id =
    pieces.length === 1 && only?.kind === 'expression'
      ? /^\s*(\w+)\.metadata\.name\s*$/.exec(only.cel)?.[1]
      : undefined;
  const metadata = context.resources.get(id ?? '')?.body.metadata;
  const name = isJsonObject(metadata) ? metadata.name : undefined;
  if (typeof name === 'string' && name !== text) return globOf(name, context);
  return pieces.map((piece) => (piece.kind === 'literal' ? piece.text : '*')).join('');
}
