/** Where a definition has children. Their ids are names in the same expressions. */
export const childLists: readonly string[] = ['/spec/children', '/spec/onDelete/children'];
