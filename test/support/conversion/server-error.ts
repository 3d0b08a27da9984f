import { errorFromResponse } from '#kube/errors.ts';

/** What a client finds when an API server answers 500 with this message. */
export const serverError = (message: string) =>
  errorFromResponse({ status: 500, body: { kind: 'Status', code: 500, message } });

/** The answer of an API server whose conversion webhook closes the connection. */
export const webhookError = serverError(
  'conversion webhook for a.example.com/v2, Kind=A failed: EOF',
);
