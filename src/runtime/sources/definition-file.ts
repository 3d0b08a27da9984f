/** May a file or key of that name hold definitions? Names that begin with a dot do not: a mounted volume keeps its symlinks there. */
export function isDefinitionFile(name: string): boolean {
  return !name.startsWith('.') && /\.(?:ya?ml|json)$/.test(name);
}
