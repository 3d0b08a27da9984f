import { notAcceptable, notRepresentable } from '../status/api-errors.ts';

/** The form in which an answer is sent. */
export type Representation =
  | { readonly kind: 'object' }
  | { readonly kind: 'metadata' }
  | { readonly kind: 'table'; readonly version: 'v1' | 'v1beta1' }
  | { readonly kind: 'discovery'; readonly version: 'v2' | 'v2beta1' };

interface Accepted {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const readable = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];

/** Media types for lists and watches, in addition to those for objects. */
const streams = [
  'application/json;stream=watch',
  'application/vnd.kubernetes.protobuf;stream=watch',
];

interface Negotiation {
  readonly accept: string | undefined;
  readonly isDiscovery: boolean;
  /** Routes of built-in kinds check the media type first and reject one with a wildcard in its second part only. */
  readonly route: 'object' | 'collection' | undefined;
}

/** The first representation that the client accepts and the server supports. @throws StatusError 406 */
export function negotiate({ accept, isDiscovery, route }: Negotiation): Representation {
  const offers = parseAccept(accept ?? '');
  if (offers.length === 0) return { kind: 'object' };
  if (route !== undefined && !offers.some(({ type }) => type === '*/*' || readable.includes(type)))
    throw notRepresentable(route === 'collection' ? [...readable, ...streams] : readable);
  for (const { type, parameters } of offers) {
    if (type !== 'application/json' && type !== 'application/*' && type !== '*/*') continue;
    const representation = representationOf(parameters, isDiscovery);
    if (representation !== undefined) return representation;
  }
  throw notAcceptable(readable);
}

/**
 * Returns whether the client wants an OpenAPI document with descriptions. Clients that need schemas only put
 * `application/json;descriptions=none` first, which other servers ignore.
 */
export function wantsDescriptions(accept: string | undefined): boolean {
  const [first] = parseAccept(accept ?? '');
  return first?.parameters.get('descriptions') !== 'none';
}

function representationOf(
  parameters: ReadonlyMap<string, string>,
  isDiscovery: boolean,
): Representation | undefined {
  const as = parameters.get('as');
  const version = parameters.get('v');
  switch (as) {
    case undefined:
      return { kind: 'object' };
    case 'PartialObjectMetadata':
    case 'PartialObjectMetadataList':
      return version === 'v1' && !isDiscovery ? { kind: 'metadata' } : undefined;
    case 'Table':
      if (isDiscovery || (version !== 'v1' && version !== 'v1beta1')) return undefined;
      return parameters.get('g') === 'meta.k8s.io' ? { kind: 'table', version } : undefined;
    case 'APIGroupDiscoveryList':
      if (!isDiscovery || (version !== 'v2' && version !== 'v2beta1')) return undefined;
      return { kind: 'discovery', version };
    default:
      return undefined;
  }
}

function parseAccept(accept: string): readonly Accepted[] {
  return accept
    .split(',')
    .map((offer) => offer.trim())
    .filter((offer) => offer !== '')
    .map((offer) => {
      const [type = '', ...rest] = offer.split(';').map((part) => part.trim());
      const parameters = new Map(
        rest.map((part): [string, string] => {
          const equals = part.indexOf('=');
          return [part.slice(0, equals), part.slice(equals + 1)];
        }),
      );
      return { type: type.toLowerCase(), parameters };
    });
}
