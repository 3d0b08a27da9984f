import type { ServedKind } from '../kinds/index.ts';

export const resourceVerbs = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
] as const;

export const customVerbs = [
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'create',
  'update',
  'watch',
] as const;

export const subresourceVerbs = ['get', 'patch', 'update'] as const;

/** What may be done with a resource, in the order that the server tells it. */
export function verbsOf({ isCustom, names, review }: ServedKind): readonly string[] {
  if (review !== undefined) return ['create'];
  if (isCustom) return customVerbs;
  if (names.kind !== 'Namespace') return resourceVerbs;
  return resourceVerbs.filter((verb) => verb !== 'deletecollection');
}
