import { badRequest, invalid } from '../status/api-errors.ts';
import {
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  tooLong,
  unsupportedValue,
} from '../status/field-error.ts';

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

/** The options in a write's query. */
export interface WriteOptions {
  /** The field manager: `fieldManager`, or the name of the user agent. */
  readonly manager: string;
  readonly dryRun: boolean;
  readonly fieldValidation: FieldValidation;
  readonly force: boolean;
}

type WriteKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions';

interface WriteOptionsSource {
  readonly kind: WriteKind;
  readonly query: URLSearchParams;
  readonly userAgent: string;
  readonly isApply: boolean;
}

const maxManagerLength = 128;

/** @throws StatusError 422 or 400 for invalid values */
export function readWriteOptions(source: WriteOptionsSource): WriteOptions {
  const { kind, query, userAgent, isApply } = source;
  const fieldManager = query.get('fieldManager') ?? '';
  const fieldValidation = query.get('fieldValidation') ?? '';
  const force = kind === 'PatchOptions' ? readFlag(query, 'force') : undefined;
  const errors = [
    ...(kind === 'PatchOptions' ? patchErrors(fieldManager, force, isApply) : []),
    ...managerErrors(fieldManager),
    ...dryRunErrors(query.getAll('dryRun')),
    ...validationErrors(fieldValidation),
  ];
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind }, '', errors);
  return {
    manager: fieldManager === '' ? managerOf(userAgent) : fieldManager,
    dryRun: query.getAll('dryRun').length > 0,
    fieldValidation: fieldValidation === '' ? 'Warn' : (fieldValidation as FieldValidation),
    force: force === true,
  };
}

/** A boolean in the query. @throws StatusError 400 for an invalid value */
export function readFlag(query: URLSearchParams, name: string): boolean | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  switch (text.toLowerCase()) {
    case 'false':
    case '0':
      return false;
    default:
      return true;
  }
}

/** A number in the query. @throws StatusError 400 for an invalid value */
export function readNumber(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (/^[+-]?\d+$/.test(text)) return Number(text);
  throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
}

function patchErrors(
  fieldManager: string,
  force: boolean | undefined,
  isApply: boolean,
): readonly FieldError[] {
  if (isApply)
    return fieldManager === ''
      ? [requiredField('fieldManager', 'is required for apply patch')]
      : [];
  if (force === undefined) return [];
  return [forbiddenField('force', 'may not be specified for non-apply patch')];
}

function managerErrors(fieldManager: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (fieldManager.length > maxManagerLength)
    errors.push(tooLong('fieldManager', maxManagerLength));
  const position = fieldManager.search(/[^\P{C}]|[^\P{Z} ]/u);
  if (position >= 0) {
    const point = fieldManager.codePointAt(position) ?? 0;
    const code = `U+${point.toString(16).toUpperCase().padStart(4, '0')}`;
    const detail = `invalid character ${code} (at position ${position})`;
    errors.push(invalidField('fieldManager', fieldManager, detail));
  }
  return errors;
}

export function dryRunErrors(dryRun: readonly string[]): readonly FieldError[] {
  if (dryRun.every((value) => value === 'All')) return [];
  return [unsupportedValue('dryRun', dryRun, ['All'])];
}

function validationErrors(fieldValidation: string): readonly FieldError[] {
  const allowed = ['', 'Ignore', 'Strict', 'Warn'];
  if (allowed.includes(fieldValidation)) return [];
  return [unsupportedValue('fieldValidation', fieldValidation, allowed)];
}

/** `kubectl/v1.36 (linux)` -> `kubectl`. */
function managerOf(userAgent: string): string {
  const name = userAgent.split('/')[0] ?? '';
  return (name === '' ? 'unknown' : name).slice(0, maxManagerLength);
}

/** A request, independent of the transport. */
export interface ApiRequest {
  readonly method: string;
  /** Path and query: `/api/v1/pods?limit=1`. */
  readonly path: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Empty = no body. */
  readonly body: string;
  /** The bytes of a body that is not text: `application/vnd.kubernetes.protobuf`. */
  readonly bytes?: Uint8Array;
}

/** An answer: a text, or a stream of lines that ends when its reader calls `return`. */
export interface ApiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | AsyncIterable<string>;
}
