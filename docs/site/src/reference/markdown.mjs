// An operation as Markdown, for readers that want no page: what it does, a request, its fields, and its failures.
import { choicesOf, codesOf, dataOf, fieldsOf, resolved, typeOf } from "./document.mjs";
import { samplesOf } from "./samples.mjs";

export function markdownOf(operation) {
  const { description, scope, isPublic, parameters, body, successes, failures } = operation;
  const [{ syntax, code }] = samplesOf(operation);
  const key = isPublic ? "It needs no key." : scope ? `Its key needs the scope \`${scope}\`.` : "Any key will do.";
  return [
    `${description}\n\n${key}`,
    `\`\`\`${syntax}\n${code}\n\`\`\``,
    ...(parameters.length > 0 ? [`## Parameters\n\n${parameters.map(parameterLine).join("\n")}`] : []),
    ...(body ? [`## Body\n\n${fieldLines(body).join("\n")}`] : []),
    `## Answer\n\n${successes.map(answerText).join("\n\n")}`,
    `## Failures\n\n${failures.map((answer) => `- ${answer.status}: ${codesOf(answer).join(", ")}`).join("\n")}\n`,
  ].join("\n\n");
}

function parameterLine({ name, schema, in: place, required, description = "" }) {
  return `- \`${name}\` (${typeOf(schema)}, in the ${place}${required ? "" : ", optional"}) ${inOneLine(description)}`;
}

function answerText(answer) {
  const data = dataOf(answer);
  const fields = data ? `\n\nIn \`data\`:\n\n${fieldLines(data).join("\n")}` : "";
  return `**${answer.status}** ${inOneLine(answer.description)}${fields}`;
}

/** A line for each field; those of objects in it are indented below. */
function fieldLines(schema, seen = []) {
  const indented = (inner) => (seen.includes(inner) ? [] : fieldLines(inner, [...seen, inner]).map((line) => `  ${line}`));
  const fields = fieldsOf(schema).flatMap(({ name, field, isRequired }) => [
    `- \`${name}\` (${typeOf(field)}${isRequired ? "" : ", optional"}) ${inOneLine(field.description)}`.trimEnd(),
    ...indented(field),
  ]);
  const choices = choicesOf(schema);
  if (choices.length === 1) {
    return [...fields, ...fieldLines(choices[0], [...seen, choices[0]])];
  }
  return [...fields, ...choices.flatMap((choice, index) => [`- ${resolved(choice).title ?? `Form ${index + 1}`}:`, ...indented(choice)])];
}

function inOneLine(text = "") {
  return text.replaceAll(/\s*\n\s*/g, " ");
}
