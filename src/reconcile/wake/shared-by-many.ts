/** So many resources at most are woken at once as if each were alone; from there on they give way to others. */
const sharedByMany = 100;

/** Do so many resources wait for the same thing (an object that is read, a right, a namespace) that it wakes them with low priority? */
export function isSharedByMany({ size }: { readonly size: number }): boolean {
  return size > sharedByMany;
}
