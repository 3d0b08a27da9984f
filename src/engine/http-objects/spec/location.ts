import { isSafePath } from './path-template.ts';

/** Origin and base path of an API. */
export interface Location {
  /** `https://grafana.shop.svc:3000` */
  readonly origin: string;
  /** `/api`, without a slash at the end. Empty: the root. */
  readonly basePath: string;
}

/** The location of a text, or why it has none. Pure. */
export function locationOf(
  text: string,
): { readonly location: Location } | { readonly failure: string } {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return { failure: 'Expected a URL such as "https://api.shop.svc/v1"' };
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return { failure: `Expected a URL with "https" or "http", found "${url.protocol}"` };
  if (url.username !== '' || url.password !== '')
    return { failure: 'Expected a URL without a user name and password; use "auth"' };
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(text))
    return { failure: 'Expected a URL without a query and fragment' };
  const basePath = url.pathname.replace(/\/$/, '');
  // Normalisation has not changed the path.
  const written = text.replace(/^[A-Za-z]+:\/\/[^/]*/, '').replace(/\/$/, '');
  if (written !== basePath || (basePath !== '' && !isSafePath(basePath)))
    return { failure: 'Expected a URL with a normalised path' };
  return { location: { origin: url.origin, basePath } };
}

/**
 * The URL of a path below the location. Undefined: after normalisation it would be elsewhere, so it must not be used. Every request
 * passes here, also one from a record. Pure.
 */
export function urlBelow(
  { origin, basePath }: Location,
  path: string,
  query: Readonly<Record<string, string>> = {},
): string | undefined {
  if (!isSafePath(path)) return undefined;
  const written = `${basePath}${path}`;
  const url = new URL(`${origin}${written}`);
  if (url.origin !== origin || url.pathname !== written) return undefined;
  for (const [name, value] of Object.entries(query)) url.searchParams.append(name, value);
  return url.href;
}
