import type { LeafParser } from '#compile/language/index.ts';
import { parseDurationMs } from '#util/duration.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { httpEndpointSchema } from '../kinds/http-endpoint.ts';
import { fieldSchema } from '../kinds/schema.ts';
import type { AllowRule } from './allowed-request.ts';
import { checkSchema } from './check-schema.ts';
import { type Code, compileCode } from './code-field.ts';
import { headerProblems } from './header-names.ts';
import { type Location, locationOf } from './location.ts';
import { parsePath } from './path-template.ts';
import { errorAt, type SpecProblem, warningAt } from './problem.ts';
import { sourceText, type ValueSource, valueSourceOf } from './value-source.ts';

/** A valid `HttpEndpoint`. */
export interface EndpointSpec extends Location {
  readonly headers: Readonly<Record<string, string>>;
  readonly auth: AuthSpec | undefined;
  readonly tls: TlsSpec;
  readonly timeoutMs: number;
  readonly requestsPerSecond: number;
  readonly concurrent: number;
  /** Path below the base path. */
  readonly checkPath: string | undefined;
  readonly allow: readonly AllowRule[];
}

export type AuthSpec =
  | BasicSpec
  | { readonly kind: 'bearer'; readonly token: ValueSource }
  | { readonly kind: 'header'; readonly name: string; readonly value: ValueSource }
  | OAuth2Spec
  | LoginSpec;

export interface BasicSpec {
  readonly kind: 'basic';
  readonly username: ValueSource;
  readonly password: ValueSource;
}

export interface OAuth2Spec {
  readonly kind: 'oauth2';
  readonly tokenUrl: string;
  readonly clientId: ValueSource;
  readonly clientSecret: ValueSource;
  readonly scopes: readonly string[];
}

export interface LoginSpec {
  readonly kind: 'login';
  readonly path: string;
  readonly body: JsonObject;
  readonly jwtField: string;
  readonly serviceAccount: string;
  readonly audience: string;
  readonly token: Code;
  readonly lifetimeSeconds: Code | undefined;
  /** Undefined: `Authorization: Bearer`. */
  readonly header: string | undefined;
}

export interface TlsSpec {
  readonly ca: ValueSource | undefined;
  readonly serverName: string | undefined;
  readonly certificate: ValueSource | undefined;
  readonly key: ValueSource | undefined;
  readonly insecureSkipVerify: boolean;
}

export interface DecodedEndpoint {
  /** Undefined: it has errors. */
  readonly spec: EndpointSpec | undefined;
  readonly problems: readonly SpecProblem[];
}

const defaultTimeoutMs = 10_000;
const maxTimeoutMs = 60_000;

/** Decodes an `HttpEndpoint`. All errors are reported at once. Pure. */
export function decodeEndpoint(object: KubeObject, parser: LeafParser): DecodedEndpoint {
  const raw = isJsonObject(object.spec) ? object.spec : {};
  const specSchema = fieldSchema(httpEndpointSchema, 'spec') ?? {};
  const problems = [...checkSchema(raw, specSchema, '/spec')];
  if (problems.some(({ code }) => code !== 'unknown-field')) return { spec: undefined, problems };
  const located = locationOf(String(raw.url));
  if ('failure' in located) problems.push(errorAt('/spec/url', located.failure));
  problems.push(...headerProblems(raw.headers, '/spec/headers'));
  const auth = decodeAuth(raw.auth, parser, problems);
  const timeoutMs = parseDurationMs(String(raw.timeout ?? '')) ?? defaultTimeoutMs;
  if (timeoutMs < 100 || timeoutMs > maxTimeoutMs)
    problems.push(errorAt('/spec/timeout', 'Expected a duration between 100ms and 60s'));
  const tls = decodeTls(raw.tls, problems);
  const check = isJsonObject(raw.check) ? String(raw.check.path) : undefined;
  if (check !== undefined) checkLiteralPath(check, '/spec/check/path', problems);
  if ('failure' in located || problems.some(({ severity }) => severity === 'error'))
    return { spec: undefined, problems };
  const limits = isJsonObject(raw.limits) ? raw.limits : {};
  return {
    problems,
    spec: {
      ...located.location,
      headers: (raw.headers ?? {}) as Readonly<Record<string, string>>,
      ...{ auth, tls, timeoutMs },
      requestsPerSecond: Number(limits.requestsPerSecond ?? 10),
      concurrent: Number(limits.concurrent ?? 4),
      checkPath: check,
      allow: (raw.allow ?? []) as unknown as readonly AllowRule[],
    },
  };
}

/** The values of Secrets and ConfigMaps that an endpoint needs. Pure. */
export function endpointSources({ auth, tls }: EndpointSpec): readonly ValueSource[] {
  const sources = [tls.ca, tls.certificate, tls.key, ...authSources(auth)];
  return sources.filter((source) => source !== undefined);
}

/** Where the credentials of an endpoint are from, for messages: names, and no values. Pure. */
export function authText(auth: AuthSpec | undefined): string {
  if (auth === undefined) return 'no "auth"';
  if (auth.kind === 'login') return `ServiceAccount "${auth.serviceAccount}"`;
  return authSources(auth).map(sourceText).join(' and ');
}

function authSources(auth: AuthSpec | undefined): readonly ValueSource[] {
  switch (auth?.kind) {
    case 'basic':
      return [auth.username, auth.password];
    case 'bearer':
      return [auth.token];
    case 'header':
      return [auth.value];
    case 'oauth2':
      return [auth.clientId, auth.clientSecret];
    default:
      return [];
  }
}

function decodeAuth(
  raw: Json | undefined,
  parser: LeafParser,
  problems: SpecProblem[],
): AuthSpec | undefined {
  if (!isJsonObject(raw)) return undefined;
  const { basic, bearer, header, oauth2, login } = raw;
  if (isJsonObject(basic))
    return {
      kind: 'basic',
      username: source(basic.usernameFrom),
      password: source(basic.passwordFrom),
    };
  if (isJsonObject(bearer)) return { kind: 'bearer', token: source(bearer.tokenFrom) };
  if (isJsonObject(header)) {
    const name = String(header.name);
    problems.push(...headerProblems({ [name]: '' }, '/spec/auth/header/name'));
    return { kind: 'header', name, value: source(header.valueFrom) };
  }
  if (isJsonObject(oauth2)) return decodeOAuth2(oauth2, problems);
  return isJsonObject(login) ? decodeLogin(login, parser, problems) : undefined;
}

function decodeOAuth2(raw: JsonObject, problems: SpecProblem[]): OAuth2Spec {
  const tokenUrl = String(raw.tokenUrl);
  const located = locationOf(tokenUrl);
  if ('failure' in located) problems.push(errorAt('/spec/auth/oauth2/tokenUrl', located.failure));
  return {
    ...{ kind: 'oauth2', tokenUrl },
    clientId: source(raw.clientIdFrom),
    clientSecret: source(raw.clientSecretFrom),
    scopes: (raw.scopes ?? []) as readonly string[],
  };
}

function decodeLogin(
  raw: JsonObject,
  parser: LeafParser,
  problems: SpecProblem[],
): LoginSpec | undefined {
  const at = '/spec/auth/login';
  const path = String(raw.path);
  checkLiteralPath(path, `${at}/path`, problems);
  const header = raw.header === undefined ? undefined : String(raw.header);
  if (header !== undefined) problems.push(...headerProblems({ [header]: '' }, `${at}/header`));
  const compiled = (text: Json | undefined, field: string) => {
    if (text === undefined) return undefined;
    const result = compileCode(String(text), `${at}/${field}`, parser);
    if ('code' in result) return result.code;
    problems.push(result.problem);
    return undefined;
  };
  const token = compiled(raw.token, 'token');
  const lifetimeSeconds = compiled(raw.lifetimeSeconds, 'lifetimeSeconds');
  if (token === undefined || !isJsonObject(raw.serviceAccount)) return undefined;
  return {
    ...{ kind: 'login', path, token, lifetimeSeconds, header },
    body: isJsonObject(raw.body) ? raw.body : {},
    jwtField: String(raw.jwtField),
    serviceAccount: String(raw.serviceAccount.name),
    audience: String(raw.serviceAccount.audience),
  };
}

function decodeTls(raw: Json | undefined, problems: SpecProblem[]): TlsSpec {
  const tls = isJsonObject(raw) ? raw : {};
  const spec = {
    ca: valueSourceOf(tls.caFrom),
    serverName: tls.serverName === undefined ? undefined : String(tls.serverName),
    certificate: valueSourceOf(tls.certificateFrom),
    key: valueSourceOf(tls.keyFrom),
    insecureSkipVerify: tls.insecureSkipVerify === true,
  };
  if ((spec.certificate === undefined) !== (spec.key === undefined))
    problems.push(
      errorAt('/spec/tls', 'Expected both "certificateFrom" and "keyFrom", or neither'),
    );
  if (spec.insecureSkipVerify)
    problems.push({
      ...warningAt(
        '/spec/tls/insecureSkipVerify',
        'Any server can answer, and receives the credentials',
        'Use "caFrom"',
      ),
      code: 'missing-field',
    });
  return spec;
}

function checkLiteralPath(text: string, path: string, problems: SpecProblem[]): void {
  const parsed = parsePath(text, path, []);
  if ('problem' in parsed) problems.push(parsed.problem);
}

function source(value: Json | undefined): ValueSource {
  return valueSourceOf(value) ?? { kind: 'Secret', name: '', key: '' };
}
