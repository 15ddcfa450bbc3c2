import * as z from 'zod';
import { ProblemError } from '../http/problem-error.js';

/** Before every alert of a node. */
export const FIRST_PLACE = '00000000-000-0';

const PLACE = /^\d{8}-\d{3}-\d{1,15}$/;
/** Nodes that a cursor may be about: none of ours has so many. */
const MAX_NODES = 256;

/** In the place of one: the node has not answered a page, and is not asked for further ones, which would not be in order. */
export const LEFT_OUT = 'left_out';

/** By node. */
const byNode = <T extends z.ZodType>(place: T) =>
  z.record(z.string().min(1).max(256), place).refine((value) => Object.keys(value).length <= MAX_NODES);
const place = z.string().regex(PLACE);
const places = byNode(z.union([place, z.null()]));
const pagePlaces = byNode(z.union([place, z.literal(LEFT_OUT), z.number().int().min(0), z.null()]));

/** Where each node of a cluster goes on; null where it has no more. A node that is not there is not asked. */
export type NodePlaces = Readonly<Record<string, string | null>>;

/**
 * The same for pages. Where a node has no more, how many alerts it had in all, null where that is not known. `LEFT_OUT`: some of its alerts
 * are missing.
 */
export type PagePlaces = Readonly<Record<string, string | number | null>>;

/** An alert as clients name it: its id in the store of a node, or the member `id` of its JSON; and the node, in a cluster. */
export type AlertName = { readonly id: string; readonly node: string | undefined };

/** @param text `20261127-000-123456`, with `@node01` behind it in a cluster */
export function parseAlertName(text: string): AlertName {
  const at = text.indexOf('@');
  return at < 0 ? { id: text, node: undefined } : { id: text.slice(0, at), node: text.slice(at + 1) };
}

/** @param node undefined where there is no cluster */
export function alertName(id: string, node: string | undefined): string {
  return node === undefined ? id : `${id}@${node}`;
}

/** The place behind an alert: it begins at its id, and has more bytes than one. */
export function placeBehind(id: string): string {
  return moved(id, 1);
}

/** The id behind which {@link placeBehind} is a place; undefined for the beginning of a file. */
export function idBefore(place: string): string | undefined {
  return place.endsWith('-0') ? undefined : moved(place, -1);
}

function moved(place: string, bytes: number): string {
  const cut = place.lastIndexOf('-') + 1;
  return `${place.slice(0, cut)}${Number(place.slice(cut)) + bytes}`;
}

/** Where nodes go on, for a client to send back; null when none has more. */
export function packPlaces(nodes: PagePlaces): string | null {
  if (!Object.values(nodes).some(isPlace)) return null;
  return Buffer.from(JSON.stringify(nodes)).toString('base64url');
}

/** The cursor of a page that several nodes have answered. @throws ProblemError 400 for what is none */
export function unpackPagePlaces(cursor: string): PagePlaces {
  return pagePlaces.safeParse(unpacked(cursor)).data ?? fail(badCursor());
}

/** How far nodes were read in a stream. @throws ProblemError 400 for what does not say so */
export function unpackPlaces(last: string): NodePlaces {
  const error = ProblemError.badRequest('Last-Event-ID is no id of this stream: send it as it came');
  return places.safeParse(unpacked(last)).data ?? fail(error);
}

function unpacked(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

function fail(error: Error): never {
  throw error;
}

/** Whether a node goes on there. */
export function isPlace(at: PagePlaces[string] | undefined): at is string {
  return typeof at === 'string' && at !== LEFT_OUT;
}

/** The cursor of a page of one node. @throws ProblemError 400 */
export function placeOfCursor(cursor: string): string {
  if (!PLACE.test(cursor)) throw badCursor();
  return cursor;
}

function badCursor(): ProblemError {
  return ProblemError.badRequest(
    "Parameter 'cursor' is none of this list: use next_cursor of the page before, as it is",
  );
}
