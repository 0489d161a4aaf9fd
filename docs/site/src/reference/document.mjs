// The OpenAPI document as the pages of the reference show it: operations in the order of a sweep's life, and their fields.
import { readFileSync } from "node:fs";
import { marked } from "marked";

// Below the folder in which the site is built.
const FILE = process.env.OPENAPI_FILE ?? "../../var/openapi.json";
const document = JSON.parse(readFileSync(FILE, "utf8"));
const METHODS = ["get", "post", "patch", "delete"];
// Those that are not named here follow in the order of the document.
const LIFE = [
  "discoverTokens",
  "quoteSweep",
  "buildSweep",
  "refreshSweep",
  "finalizeSweep",
  "confirmSweep",
  "getSweep",
  "cancelSweep",
  "listSweeps",
  "getSweepReceipt",
  "discoverSolanaTokens",
  "buildSolanaSweep",
  "getSweepV1",
];

export const { version } = document.info;

export const operations = Object.entries(document.paths)
  .flatMap(([path, item]) => METHODS.filter((method) => method in item).map((method) => operation(path, method, item[method])))
  .sort((one, other) => place(one) - place(other));

/** Operations by tag, in order. */
export const groups = Map.groupBy(operations, ({ tag }) => tag);

export function html(markdown = "") {
  return marked.parse(markdown);
}

export function inlineHtml(markdown = "") {
  return marked.parseInline(markdown);
}

/** Follows a reference; its name is that of the type. */
export function resolved(schema) {
  if (schema.$ref === undefined) {
    return schema.allOf?.length === 1 ? { ...resolved(schema.allOf[0]), ...schema } : schema;
  }
  return schema.$ref.split("/").slice(1).reduce((found, key) => found[key], document);
}

/** The fields of an object, or of the objects in a list; none of anything else. */
export function fieldsOf(schema) {
  const { properties, items, required = [], additionalProperties } = resolved(schema);
  if (properties !== undefined) {
    return Object.entries(properties).map(([name, field]) => ({ name, field: resolved(field), isRequired: required.includes(name) }));
  }
  if (items !== undefined) {
    return fieldsOf(items);
  }
  return typeof additionalProperties === "object" ? fieldsOf(additionalProperties) : [];
}

/** The schemas of which a value has one, if each has fields of its own. */
export function choicesOf(schema) {
  const { oneOf, anyOf } = resolved(schema);
  return (oneOf ?? anyOf ?? []).filter((one) => resolved(one).type !== "null" && fieldsOf(one).length > 0);
}

/** A type in words. */
export function typeOf(schema) {
  const { type, items, enum: values, const: value, oneOf, anyOf, format, additionalProperties } = resolved(schema);
  const types = Array.isArray(type) ? type : type === undefined ? [] : [type];
  const choices = (oneOf ?? anyOf ?? []).map(resolved);
  const isNullable = types.includes("null") || choices.some((one) => one.type === "null");
  const [first] = types.filter((one) => one !== "null");
  const words = () => {
    if (value !== undefined) return JSON.stringify(value);
    if (values !== undefined) return values.filter((one) => one !== null).map((one) => JSON.stringify(one)).join(" or ");
    if (first === "array") return `list of ${typeOf(items ?? {})}`;
    if (first === "object" && typeof additionalProperties === "object") return `object of ${typeOf(additionalProperties)} by name`;
    if (choices.length > 0) return [...new Set(choices.filter((one) => one.type !== "null").map(typeOf))].join(" or ");
    return format === undefined ? (first ?? "anything") : `${first} (${format})`;
  };
  return isNullable ? `${words()}, or null` : words();
}

function operation(path, method, found) {
  const { operationId, summary, description, tags, parameters = [], requestBody, responses, security } = found;
  const body = requestBody?.content["application/json"];
  const answers = Object.entries(responses).map(([status, response]) => ({ status, ...resolved(response) }));
  return {
    id: operationId,
    slug: operationId.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
    path,
    method: method.toUpperCase(),
    summary,
    description,
    tag: tags[0],
    scope: security?.[0]?.apiKey?.[0],
    isPublic: security?.length === 0,
    parameters: parameters.map(resolved),
    body: body?.schema,
    example: Object.values(body?.examples ?? {})[0]?.value,
    successes: answers.filter(({ status }) => status < "300"),
    failures: answers.filter(({ status }) => status >= "400"),
  };
}

/** The codes that an answer may have; its description lists them. */
export function codesOf({ description }) {
  return [...description.matchAll(/^- `(\w+)`/gm)].map(([, code]) => code);
}

/** What an answer has in `data`. */
export function dataOf(answer) {
  const schema = answer.content?.["application/json"]?.schema;
  return schema && resolved(schema).properties?.data;
}

function place({ id }) {
  const found = LIFE.indexOf(id);
  return found === -1 ? LIFE.length : found;
}
