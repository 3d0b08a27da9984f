import { type FieldError, invalidField, requiredField } from '../status/field-error.ts';

const form = '; desired format: https://host[/path]';

/** Validates the URL of a webhook: `https://host[/path]`. */
export function webhookUrlErrors(text: string, at: string): readonly FieldError[] {
  const parts =
    /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s.exec(
      text,
    );
  if (parts === null) return [requiredField(at, `url must be a valid URL${form}`)];
  const [, scheme = '', authority = '', , query = '', fragment = ''] = parts;
  const [user, host = ''] = authority.includes('@')
    ? authority.split(/@(.*)/s)
    : [undefined, authority];
  return [
    ...(scheme === 'https'
      ? []
      : [invalidField(at, scheme, `'https' is the only allowed URL scheme${form}`)]),
    ...(host === '' ? [invalidField(at, host, `host must be specified${form}`)] : []),
    ...(user === undefined
      ? []
      : [invalidField(at, user, 'user information is not permitted in the URL')]),
    ...(fragment === ''
      ? []
      : [invalidField(at, fragment, 'fragments are not permitted in the URL')]),
    ...(query === ''
      ? []
      : [invalidField(at, query, 'query parameters are not permitted in the URL')]),
  ];
}
