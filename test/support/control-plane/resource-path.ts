export interface SplitPath {
  readonly collection: string;
  readonly name: string;
}

/**
 * Splits an object's path into its collection and its name.
 * @throws Error when the path is that of a collection or has a query.
 */
export function splitPath(path: string): SplitPath {
  const match = /^(?<root>\/api\/[^/]+|\/apis\/[^/]+\/[^/]+)\/(?<rest>[^?]+)$/.exec(path);
  const steps = match?.groups?.rest?.split('/') ?? [];
  // namespaces/NS/plural/name, or plural/name (which a namespace itself is too).
  if (steps.length !== 2 && (steps.length !== 4 || steps[0] !== 'namespaces')) {
    throw new Error(`Expected the path of an object, found "${path}"`);
  }
  const slash = path.lastIndexOf('/');
  return { collection: path.slice(0, slash), name: path.slice(slash + 1) };
}
