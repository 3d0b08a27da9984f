import type { FarRequest } from './record.ts';

/** Method and path of a request, for messages: without the query, which may have more than names. Pure. */
export function requestText(
  endpoint: { readonly location: string } | undefined,
  { method, path }: Pick<FarRequest, 'method' | 'path'>,
): string {
  const { pathname } = URL.parse(endpoint?.location ?? '') ?? { pathname: '' };
  return `${method} ${pathname.replace(/\/$/, '')}${path}`;
}
