// A request of an operation in three languages, with the variables of the quickstarts.

/** Returns the name of each language, that of its syntax, and the code. */
export function samplesOf({ method, path, parameters, body, example = {}, isPublic }) {
  const given = parameters.filter(({ in: place, required }) => required && place !== "header");
  const query = given.filter(({ in: place }) => place === "query").map(({ name }) => `${name}={${name}}`);
  const asked = {
    method,
    url: path + (query.length > 0 ? `?${query.join("&")}` : ""),
    names: given.map(({ name }) => name.toUpperCase()),
    body: body && example,
    isPublic,
  };
  return [
    { language: "curl", syntax: "bash", code: curl(asked) },
    { language: "TypeScript", syntax: "ts", code: typescript(asked) },
    { language: "Python", syntax: "python", code: python(asked) },
  ];
}

function curl({ method, url, body, isPublic }) {
  const options = [
    `curl "$BASE_URL${filled(url, (name) => `$${name}`)}"`,
    ...(isPublic ? [] : [`--header "x-api-key: $API_KEY"`]),
    ...(method === (body ? "POST" : "GET") ? [] : [`--request ${method}`]),
    ...(body ? [`--json @- <<'JSON'\n${JSON.stringify(body, null, 2)}\nJSON`] : []),
  ];
  return options.join(" \\\n  ");
}

function typescript({ method, url, names, body, isPublic }) {
  const headers = [...(isPublic ? [] : [`"x-api-key": API_KEY!`]), ...(body ? [`"content-type": "application/json"`] : [])];
  const options = [
    ...(method === "GET" ? [] : [`method: "${method}",`]),
    ...(headers.length > 0 ? [`headers: { ${headers.join(", ")} },`] : []),
    ...(body ? [`body: JSON.stringify(${indented(JSON.stringify(body, null, 2), "  ")}),`] : []),
  ];
  const address = `\`\${BASE_URL}${filled(url, (name) => `\${${name}}`)}\``;
  return [
    `const { ${["BASE_URL", ...(isPublic ? [] : ["API_KEY"]), ...names].join(", ")} } = process.env;`,
    options.length > 0
      ? `const response = await fetch(${address}, {\n${options.map((option) => `  ${option}`).join("\n")}\n});`
      : `const response = await fetch(${address});`,
    "console.log(await response.text());",
  ].join("\n");
}

function python({ method, url, names, body, isPublic }) {
  const quoted = `${names.length > 0 ? "f" : ""}"${filled(url, (name) => `{os.environ['${name}']}`)}"`;
  const options = [
    `os.environ["BASE_URL"] + ${quoted},`,
    ...(isPublic ? [] : [`headers={"x-api-key": os.environ["API_KEY"]},`]),
    ...(body ? [`json=${indented(pythonOf(body), "    ")},`] : []),
  ];
  return [
    "import os",
    "",
    "import requests",
    "",
    `response = requests.${method.toLowerCase()}(`,
    ...options.map((option) => `    ${option}`),
    ")",
    "print(response.text)",
  ].join("\n");
}

/** Puts a language's way to write a variable in place of each parameter. */
function filled(url, written) {
  return url.replace(/\{(\w+)\}/g, (_, name) => written(name.toUpperCase()));
}

function indented(text, margin) {
  return text.replaceAll("\n", `\n${margin}`);
}

function pythonOf(value) {
  if (Array.isArray(value)) {
    return bracketed("[", value.map(pythonOf), "]");
  }
  if (value !== null && typeof value === "object") {
    return bracketed("{", Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${pythonOf(item)}`), "}");
  }
  return { true: "True", false: "False", null: "None" }[JSON.stringify(value)] ?? JSON.stringify(value);
}

function bracketed(open, items, close) {
  return items.length === 0 ? open + close : `${open}\n${items.map((item) => `    ${indented(item, "    ")},`).join("\n")}\n${close}`;
}
