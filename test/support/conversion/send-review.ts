import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';

/** Sends a review to a webhook on loopback, whatever its certificate is. Returns the parsed body of the response. */
export function sendReview(port: number, path: string, asked: object): Promise<unknown> {
  const review = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview' };
  return sendBody(port, path, JSON.stringify({ ...review, request: asked }));
}

/** Sends any body. */
export async function sendBody(port: number, path: string, body: string): Promise<unknown> {
  const options = { method: 'POST', rejectUnauthorized: false, agent: false };
  const sent = request(`https://127.0.0.1:${port}${path}`, options);
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return JSON.parse(await text(response));
}
