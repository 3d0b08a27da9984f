import { notAcceptable, notRepresentable } from '../status/index.ts';

/** How an answer is to be shown. */
export type Shape =
  | { readonly kind: 'object' }
  | { readonly kind: 'metadata' }
  | { readonly kind: 'table'; readonly version: 'v1' | 'v1beta1' }
  | { readonly kind: 'discovery'; readonly version: 'v2' | 'v2beta1' };

interface Accepted {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const readable = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];

/** What a list or a watch may be sent as, beside what an object may. */
const streams = [
  'application/json;stream=watch',
  'application/vnd.kubernetes.protobuf;stream=watch',
];

export interface Negotiation {
  readonly accept: string | undefined;
  readonly isDiscovery: boolean;
  /** Routes of built-in kinds look at the media type first, and take none with a star in its second part only. */
  readonly route: 'object' | 'collection' | undefined;
}

/** The first shape that the client takes and the server has. @throws StatusError 406 */
export function negotiate({ accept, isDiscovery, route }: Negotiation): Shape {
  const offers = parseAccept(accept ?? '');
  if (offers.length === 0) return { kind: 'object' };
  if (route !== undefined && !offers.some(({ type }) => type === '*/*' || readable.includes(type)))
    throw notRepresentable(route === 'collection' ? [...readable, ...streams] : readable);
  for (const { type, parameters } of offers) {
    if (type !== 'application/json' && type !== 'application/*' && type !== '*/*') continue;
    const shape = shapeOf(parameters, isDiscovery);
    if (shape !== undefined) return shape;
  }
  throw notAcceptable(readable);
}

/**
 * Is an OpenAPI document to be one for people? Who reads schemas alone asks for `application/json;descriptions=none` first,
 * which other servers pass over.
 */
export function wantsDescriptions(accept: string | undefined): boolean {
  const [first] = parseAccept(accept ?? '');
  return first?.parameters.get('descriptions') !== 'none';
}

function shapeOf(parameters: ReadonlyMap<string, string>, isDiscovery: boolean): Shape | undefined {
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
