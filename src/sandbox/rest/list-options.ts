import type { JsonObject } from '#util/json.ts';
import { objectField } from '../json-fields.ts';
import type { ServedKind } from '../kinds/served-kind.ts';
import { readFlag, readNumber } from '../request/write-options.ts';
import { type ObjectMatcher, parseFieldQuery } from '../selector/field-query.ts';
import { parseLabelQuery, SelectorError } from '../selector/label-query.ts';
import { badRequest, invalid } from '../status/api-errors.ts';
import { type FieldError, forbiddenField, unsupportedValue } from '../status/field-error.ts';

type VersionMatch = 'Exact' | 'NotOlderThan';

/** The options in the query of a list or watch. */
export interface ListOptions {
  readonly matches: ObjectMatcher;
  readonly hasSelector: boolean;
  readonly limit: number | undefined;
  readonly continueToken: string;
  /** Empty = not set. */
  readonly resourceVersion: string;
  readonly versionMatch: VersionMatch | undefined;
  readonly timeoutSeconds: number | undefined;
  readonly allowsBookmarks: boolean;
  readonly sendsInitialEvents: boolean | undefined;
}

interface ListOptionsSource {
  readonly kind: ServedKind;
  readonly query: URLSearchParams;
  readonly isWatch: boolean;
}

/** @throws StatusError 400 for invalid selectors, 422 for values that exclude each other */
export function readListOptions({ kind, query, isWatch }: ListOptionsSource): ListOptions {
  const match = query.get('resourceVersionMatch') ?? '';
  const sendsInitialEvents = readFlag(query, 'sendInitialEvents');
  const source = { query, match, sendsInitialEvents };
  const errors = isWatch ? watchErrors(source) : listErrors(source);
  const { matches, hasSelector } = readSelectors(kind, query);
  const limit = readNumber(query, 'limit');
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', errors);
  return {
    matches,
    hasSelector,
    limit: limit === 0 ? undefined : limit,
    continueToken: query.get('continue') ?? '',
    resourceVersion: query.get('resourceVersion') ?? '',
    versionMatch: match === '' ? undefined : (match as VersionMatch),
    timeoutSeconds: readNumber(query, 'timeoutSeconds'),
    allowsBookmarks: readFlag(query, 'allowWatchBookmarks') === true,
    sendsInitialEvents,
  };
}

function readSelectors(kind: ServedKind, query: URLSearchParams) {
  const [labels, fields] = [query.get('labelSelector') ?? '', query.get('fieldSelector') ?? ''];
  try {
    const labelTest = parseLabelQuery(labels);
    const fieldQuery = parseFieldQuery(
      fields,
      kind.selectableFields,
      kind.isCustom || kind.selectableFields.length > 0,
    );
    const matches = (object: JsonObject) =>
      fieldQuery.matches(object) &&
      labelTest(objectField(objectField(object, 'metadata') ?? {}, 'labels') ?? {});
    return { matches, hasSelector: labels !== '' || fields !== '' };
  } catch (error) {
    if (error instanceof SelectorError) throw badRequest(error.message);
    throw error;
  }
}

interface VersionSource {
  readonly query: URLSearchParams;
  readonly match: string;
  readonly sendsInitialEvents: boolean | undefined;
}

const matchField = 'resourceVersionMatch';

function listErrors({ query, match, sendsInitialEvents }: VersionSource): readonly FieldError[] {
  const errors: FieldError[] = [];
  const version = query.get('resourceVersion') ?? '';
  if (match !== '') {
    if (version === '')
      errors.push(
        forbiddenField(
          matchField,
          'resourceVersionMatch is forbidden unless resourceVersion is provided',
        ),
      );
    if ((query.get('continue') ?? '') !== '')
      errors.push(
        forbiddenField(matchField, 'resourceVersionMatch is forbidden when continue is provided'),
      );
    if (match !== 'Exact' && match !== 'NotOlderThan')
      errors.push(unsupportedValue(matchField, match, ['Exact', 'NotOlderThan', '']));
    if (match === 'Exact' && version === '0') {
      const detail = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"';
      errors.push(forbiddenField(matchField, detail));
    }
  }
  if (sendsInitialEvents !== undefined)
    errors.push(forbiddenField('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  return errors;
}

function watchErrors({ query, match, sendsInitialEvents }: VersionSource): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (sendsInitialEvents !== undefined && match !== 'NotOlderThan') {
    const detail = 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan';
    errors.push(forbiddenField(matchField, detail));
  }
  if (match === '') return errors;
  if (sendsInitialEvents === undefined) {
    const detail =
      'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided';
    errors.push(forbiddenField(matchField, detail));
  }
  if (match !== 'NotOlderThan') errors.push(unsupportedValue(matchField, match, ['NotOlderThan']));
  if ((query.get('continue') ?? '') !== '') {
    const detail = 'resourceVersionMatch is forbidden when continue is provided';
    errors.push(forbiddenField(matchField, detail));
  }
  return errors;
}
