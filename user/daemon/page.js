// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * page.js - the script in page.html: once a second it asks the daemon that served the page,
 * and shows what it is told. Nothing else is asked.
 */
"use strict";
const $ = id => document.getElementById(id);

/* An element with text and children; text never becomes markup. */
function element(name, attributes, ...children) {
	const e = document.createElement(name);
	for (const [key, value] of Object.entries(attributes || {}))
		e.setAttribute(key, value);
	e.append(...children.map(c => c instanceof Node ? c : String(c)));
	return e;
}

/* In @id in place of what was there. Focus, and how far is scrolled, go by data-key. */
function replace(id, ...children) {
	const keyed = () => [...$(id).querySelectorAll("[data-key]")];
	const focused = $(id).contains(document.activeElement) && document.activeElement.dataset.key;
	const scrolled = new Map(keyed().filter(e => e.scrollLeft).map(e => [e.dataset.key, e.scrollLeft]));
	$(id).replaceChildren(...children);
	for (const e of keyed()) {
		if (e.dataset.key === focused) e.focus({ preventScroll: true });
		if (scrolled.has(e.dataset.key)) e.scrollLeft = scrolled.get(e.dataset.key);
	}
}

/* Three figures or fewer, and none that is something is told as 0. */
function number(x) {
	if (x === null || x === undefined || Number.isNaN(x)) return "–";
	if (x > 0 && x < 0.05) return "<0.1";
	const units = ["", "k", "M", "G", "T", "P", "E"];
	let unit = 0;
	for (; Math.abs(x) >= 999.5 && unit < 6; unit++) x /= 1000;
	const digits = Math.abs(x) < 9.95 && x % 1 ? 1 : 0;
	return x.toFixed(digits) + units[unit];
}
const ratio = x => x === null ? "–" : "×" + (x < 0.1 ? Number(x.toPrecision(1)) :
	x < 99.5 ? x.toFixed(2) : number(x));
/* STATS_RATIO_LEAST: of fewer bytes it is that of a join or two. */
const RATIO_LEAST = 65536;
const amplification = s => s.unverified.in.wire < RATIO_LEAST ? null : s.amplification.wire;
const plural = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;

/* --- what is counted, a second ------------------------------------------- */

let before = null;

const keyOf = (service, c) => [service.name, c.direction, c.kind, c.reason].join("\0");

function index(stats) {
	const all = new Map();
	for (const s of stats.services)
		for (const c of s.counters) all.set(keyOf(s, c), c);
	return all;
}

/* What is asked for proof of its address is not answered. */
const fate = c => c.reason === "challenged" ? "challenge" : c.verdict;

/* Each counter with its pace, and each service with sums by fate; null: not known yet. */
function pace(stats) {
	const old = before ? index(before) : null;
	const known = new Set(before ? before.services.map(s => s.name) : []);
	const seconds = before ? stats.time - before.time : 0;
	for (const s of stats.services) {
		const paced = seconds > 0 && known.has(s.name);
		s.pace = paced ? { pass: 0, respond: 0, challenge: 0, drop: 0, in: 0, out: 0, all: 0 } : null;
		for (const c of s.counters) {
			const was = old && old.get(keyOf(s, c)) || { packets: 0, bytes: 0 };
			const grown = (a, b) => paced ? (a < b ? a : a - b) / seconds : null;
			c.pps = grown(c.packets, was.packets);
			c.bps = paced ? 8 * grown(c.bytes, was.bytes) : null;
			if (!paced) continue;
			s.pace.all += c.pps;
			if (c.direction === "in") s.pace[fate(c)] += c.pps;
			if (c.direction === "in" || c.verdict !== "drop") s.pace[c.direction] += c.bps;
		}
	}
	before = stats;
}

function tile(value, text, mark) {
	return element("div", { class: "tile", ...(mark && { style: `--mark: var(--${mark})` }) },
		element("b", {}, value), element("span", {}, text));
}

/* Rates are the newest point of the plot, so that both say the same. */
function showTiles(stats, recent) {
	const point = recent.points[recent.points.length - 1];
	const rate = (column, scale = 1) => number(point && point[recent.columns.indexOf(column)] * scale);
	const worst = stats.services.map(amplification).filter(x => x !== null);
	$("tiles").replaceChildren(
		tile(stats.services.reduce((n, s) => n + s.players, 0), "players"),
		tile(rate("passed"), "passed /s", "pass"),
		tile(rate("responded"), "responded /s", "respond"),
		tile(rate("challenged"), "challenged /s", "challenge"),
		tile(rate("dropped"), "dropped /s", "drop"),
		tile(rate("bytes_in", 8), "bit/s in"),
		tile(rate("bytes_out", 8), "bit/s out", "out"),
		...(worst.length ? [tile(ratio(Math.max(...worst)), "amplification")] : []));
}

function showLinks(stats) {
	const observed = stats.services.length && stats.services.every(s => s.observe);
	const all = stats.interfaces.map(l => element("span", { class: l.protected && !observed ? "good" : "bad" },
		`${l.interface} (${l.missing ? "missing" : l.mode}) ` +
		(l.judges_nothing_since ? "attached, judges NOTHING" : !l.protected ? "NOT protected" : observed ? "observed only: nothing is dropped" : "protected") +
		" "));
	$("links").replaceChildren(...(all.length ? all : ["attached to nothing"]),
		`configuration ${stats.generation}`);
}

/* Heads: "#" behind is a number, "*" a column coloured by what it says; "~" before is left
 * out where there is little room. */
function table(heads, rows) {
	const cell = (name, c, i) => {
		const { n, verdict, wide } = heads[i];
		const names = [n && "n", verdict && name === "td" && c, wide && "wide"].filter(x => x);
		return element(name, { ...(names.length && { class: names.join(" ") }),
			...(name === "th" && { scope: "col" }) }, c);
	};
	return element("table", {},
		element("thead", {}, element("tr", {}, ...heads.map((h, i) => cell("th", h.text, i)))),
		element("tbody", {}, ...rows.map(r =>
			element("tr", {}, ...r.map((c, i) => cell("td", c, i))))));
}
const heads = (...texts) => texts.map(t => ({ text: t.replace(/^~|[#*]$/g, ""), n: t.endsWith("#"),
	verdict: t.endsWith("*"), wide: t.startsWith("~") }));

/* A service of any protocol is of those that were spoken. */
const protocols = s => s.protocol !== "auto" || !s.decoded ? s.protocol : ["auto:",
	...new Set(s.decoded.records.map(r => r.protocol).filter(p => p !== "auto"))].join(" ");

/* --- a service's own plot: what this page has seen of it ------------------- */

const seen = new Map();
/* Lines are told apart without their colours, too. */
const dashes = { pass: [], respond: [7, 4], challenge: [2, 3], drop: [] };
const widthOf = mark => mark === "drop" ? 3 : 1.5;

function remember(stats) {
	for (const s of stats.services)
		if (s.pace)
			seen.set(s.name, [...(seen.get(s.name) || []), { time: stats.time, ...s.pace }]
				.filter(p => stats.time - p.time <= 600));
	for (const name of seen.keys())
		if (!stats.services.some(s => s.name === name)) seen.delete(name);
}

function drawPace(canvas, name) {
	const points = seen.get(name) || [], g = canvas.getContext("2d");
	const dots = devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
	const most = Math.max(100, ...points.flatMap(p => Object.keys(dashes).map(mark => p[mark])));
	const end = points.length ? points[points.length - 1].time : 0;
	canvas.width = w * dots;
	canvas.height = h * dots;
	g.scale(dots, dots);
	g.strokeStyle = colour("line");
	g.strokeRect(.5, .5, w - 1, h - 1);
	for (const mark of Object.keys(dashes)) {
		g.strokeStyle = colour(mark);
		g.setLineDash(dashes[mark]);
		g.lineWidth = widthOf(mark);
		g.beginPath();
		points.forEach((p, i) => g[i ? "lineTo" : "moveTo"](w * (1 - (end - p.time) / 600),
			h - 3 - (h - 6) * Math.log10(1 + p[mark]) / Math.log10(1 + most)));
		g.stroke();
	}
}

function showService(s, worst) {
	const rows = s.counters.sort((a, b) => b.pps - a.pps || b.packets - a.packets).slice(0, 14);
	const budgets = Object.entries(s.limits_used).map(([name, spent]) => element("div", {},
		`${name} ${Math.round(spent * 100)} %`, element("meter", { "aria-label": name,
			value: spent, min: 0, max: 1, low: 0.5, high: 0.9, optimum: 0 })));
	return element("section", { "data-key": `section ${s.name}` },
		element("h2", {}, s.name + " ", element("small", {}, `${protocols(s)}, ` +
			plural(s.players, "player") + (amplification(s) === null ? "" :
			`, amplification ${ratio(s.amplification.payload)} of payload, ` +
			`${ratio(s.amplification.wire)} on the wire`) +
			(s.observe ? ", only observed: nothing is dropped" : ""))),
		element("canvas", { class: "pace", "data-service": s.name, role: "img", "aria-label":
			"packets per second of the last ten minutes, as far as this page was open: " +
			"passed, responded, challenged, dropped" }),
		element("div", { class: "soft" }, "used of each limit of the service"),
		element("div", { class: "budgets" }, ...budgets),
		!rows.length ? element("div", { class: "soft" }, "nothing has come or gone yet") :
		table(heads("way", "kind", "verdict*", "reason", "packets/s#", "~bit/s#", "~packets#",
			"~bytes#"), rows.map(c => [c.direction, c.kind, fate(c), c.reason, number(c.pps),
				number(c.bps), number(c.packets), number(c.bytes)])),
		s.counters.length > rows.length ? element("div", { class: "soft" },
			`and ${s.counters.length - rows.length} more in /metrics`) : "",
		s.cached_responses.length ? element("div", { class: "soft" }, "cached responses: " +
			s.cached_responses.map(t => `${t.request}${t.nonce ? " WORD" : ""} ${t.bytes} bytes, ` +
				`${t.age.toFixed(1)} s${t.fresh ? "" : " (too old)"}`).join("; ")) : "",
		worst.length ? element("div", {}, "most of what is dropped came from " + worst.map(w =>
			`${w.prefix} (${Math.round(w.share * 100)} %)`).join(", ") +
			", if the senders do not lie") : "");
}

/* --- all services ----------------------------------------------------------- */

const FEW = 4; /* services, of which none is folded */
const ROWS = 40; /* of the table, before the others are asked for */
const OPEN = 6; /* services under attack whose details show unasked */
const QUIET_S = 60;
const chosen = new Map(); /* services, and parts of the table, that were opened or closed */

/* "under attack", "active" or "quiet": no player, and nothing for a minute of looking, or ever. */
function stateOf(s, attacked, time) {
	const points = seen.get(s.name);
	if (attacked.has(s.name)) return "under attack";
	const lively = points ? points.some(p => p.all > 0 && time - p.time < QUIET_S) : s.counters.length;
	return s.players || lively ? "active" : "quiet";
}

/* Attacked first, then the busy ones: by powers of ten, so that rows stay where they are. */
function ordered(stats, attacked) {
	const weight = s => {
		const points = (seen.get(s.name) || []).slice(-10);
		return Math.round(Math.log10(1 + points.reduce((n, p) => n + p.all, 0) / (points.length || 1)));
	};
	const rank = { "under attack": 0, active: 1, quiet: 2 };
	return stats.services.map(s => ({ s, state: stateOf(s, attacked, stats.time), weight: weight(s) }))
		.sort((a, b) => rank[a.state] - rank[b.state] || b.weight - a.weight);
}

function showOverview(all) {
	const quiet = all.length > FEW ? all.filter(x => x.state === "quiet") : [];
	const busy = all.filter(x => !quiet.includes(x));
	const rows = chosen.get(0) ? busy : busy.slice(0, ROWS);
	const count = state => all.filter(x => x.state === state).length;
	const opener = x => {
		const button = element("button", { "data-key": x.s.name, "aria-expanded": x.open }, x.s.name);
		button.addEventListener("click", () => { chosen.set(x.s.name, !x.open); show(); });
		return button;
	};
	const more = element("button", { "data-key": "more", "aria-expanded": !!chosen.get(0) },
		chosen.get(0) ? "fewer" : `${busy.length - rows.length} more`);
	more.addEventListener("click", () => { chosen.set(0, !chosen.get(0)); show(); });
	const fold = element("details", chosen.get(1) ? { open: "" } : {},
		element("summary", { "data-key": "quiet" }, `${plural(quiet.length, "quiet service")}: ` +
			"no player, and nothing received or sent for a minute"),
		element("div", {}, ...quiet.map(opener)));
	fold.addEventListener("toggle", () => chosen.set(1, fold.open));
	const rate = (x, what) => number(x.s.pace && x.s.pace[what]);
	replace("overview", element("section", { "data-key": "overview" },
		element("h2", {}, "Services ", element("small", {}, !all.length ? "none is configured" :
			["under attack", "active", "quiet"].filter(count).map(x => `${count(x)} ${x}`).join(", "))),
		!rows.length ? "" : table(heads("service", "state", "~protocol", "players#", "passed/s#",
			"~responded/s#", "~challenged/s#", "dropped/s#", "~bit/s in#", "~bit/s out#",
			"~amplification#"), rows.map(x => [opener(x), x.state !== "under attack" ? x.state :
				element("span", { class: "bad" }, x.state), protocols(x.s), x.s.players,
				rate(x, "pass"), rate(x, "respond"), rate(x, "challenge"), rate(x, "drop"),
				rate(x, "in"), rate(x, "out"), ratio(amplification(x.s))])),
		busy.length > ROWS ? more : "",
		quiet.length ? fold : ""));
}

/* Of all services a line, of some everything: the attacked, those asked for, or all of few. */
function showServices(stats, attacks, players) {
	const all = ordered(stats, new Set(attacks ? attacks.now.map(a => a.service) : []));
	all.forEach((x, i) => x.open = chosen.has(x.s.name) ? chosen.get(x.s.name)
		: all.length <= FEW || (x.state === "under attack" && i < OPEN));
	showOverview(all);
	replace("services", ...all.filter(x => x.open).map(x => showService(x.s,
		(players ? players.top_prefixes : []).filter(w => w.service === x.s.name))));
}

function showOther(stats) {
	const other = Object.entries(stats.other).map(([what, o]) =>
		[what, o.verdict, number(o.packets), number(o.bytes)]);
	const sampled = Object.entries(stats.samplers).map(([name, x]) =>
		[`${name} samples`, `lost ${number(x.lost)}, limited ${number(x.limited)}`,
			number(x.taken), ""]);
	const maps = Object.entries(stats.maps).map(([name, m]) =>
		[`${name} table`, `room for ${number(m.capacity)}`, number(m.used), ""]);
	replace("other", table(heads("reason", "*", "count#", "bytes#"),
		[...other, ...sampled, ...maps]));
}

/* --- who plays, of those who are followed --------------------------------- */

/* As Quake III draws its own: a column a message, as high as its ping. */
function lagometer(way, frames) {
	const upper = frames ? 18 : 0;
	const told = "the last messages to the player: height is ping; broken: lost, raised: " +
		"held back by rate" + (frames ? "; above, the frames drawn: over the line by guess" : "");
	const canvas = element("canvas", { class: "lag", width: 256, height: 26 + upper, role: "img",
		style: `height: ${26 + upper}px`, title: told, "aria-label": told });
	const g = canvas.getContext("2d"), most = Math.max(100, ...way.pings);
	way.pings.forEach((ping, i) => {
		const mark = way.marks[i], lost = mark === "l", x = 256 - 2 * (way.pings.length - i);
		const high = lost ? 26 : mark === "." ? 1 : 2 + 24 * (ping || 0) / most;
		g.fillStyle = colour(lost ? "drop" : mark === "d" ? "out" : "good");
		g.fillRect(x, 26 + upper - high, 2, high);
		for (let y = 4; lost && y < 26; y += 6) g.clearRect(x, y + upper, 2, 2);
		if (mark === "d") g.clearRect(x, 24 + upper, 2, 2);
	});
	/* Its upper graph: over the line what was drawn beyond the newest snapshot. */
	(frames ? frames.ms : []).forEach((ms, i, all) => {
		const high = 1 + Math.min(ms > 0 ? 9 : 5, Math.abs(ms) / 10);
		g.fillStyle = colour(ms > 0 ? "drop" : "pass");
		g.fillRect(256 - 2 * (all.length - i), ms > 0 ? 10 - high : 10, 2, high);
	});
	return canvas;
}

const percent = x => (x * 100).toFixed(1) + " %";
/* Without ^1 and its like, which are colours. */
const plain = name => name.replace(/\^[^^]/g, "");

/* The cause of the last minute's lag; its figures come with the pointer. */
function cause(lag) {
	if (!lag) return "–";
	const title = `${new Date(lag.minute * 1000).toLocaleTimeString()}: ${lag.text}; ` +
		`the last minutes: ${lag.history}`;
	const bad = !["none", "unknown"].includes(lag.cause);
	return element("span", { title, "aria-label": `${lag.cause}: ${title}`,
		...(bad && { class: "bad" }) }, lag.cause);
}

function showPlayers(all, playing) {
	const rows = (all ? all.players : []).map(p => [plain(p.name) || "–", p.map || "–",
		p.address.includes(":") ? `[${p.address}]:${p.port}` : `${p.address}:${p.port}`, p.service,
		p.ping_ms === null ? "–" : `${p.ping_ms} ms`, p.snapshots_per_s, p.snapshots,
		percent(p.s2c.loss), percent(p.c2s.loss),
		p.frames ? percent(p.frames.extrapolation) : "–", cause(p.lag),
		lagometer(p.s2c, p.frames)]);
	replace("players", ...(!rows.length ? [] : [element("section", { "data-key": "players" },
		element("h2", {}, "Players followed ", element("small", {}, `${rows.length} of ${playing}`)),
		table(heads("name", "~map", "~address", "~service", "ping#", "~snapshots/s#", "~snapshots#",
			"lost to it#", "lost from it#", "~by guess#", "lag", "~lagometer"), rows))]));
}

/* --- attacks ---------------------------------------------------------------- */

const duration = s => s < 60 ? `${Math.round(s)} s` : s < 3600 ? `${Math.round(s / 60)} min`
	: `${(s / 3600).toFixed(1)} h`;
const target = a => a.service || "this machine";
const sorts = a => [a.type, ...(a.also || [])].join(" + ");
const TOLD = 3; /* attacks by name, in a line */
const some = (all, text) => all.slice(0, TOLD).map(text).join(", ") +
	(all.length > TOLD ? ` and ${all.length - TOLD} more` : "");
let told = "";

function showAttacks(all) {
	const now = all ? all.now : [];
	const newest = new Map(now.map(a => [a.id, a]));
	const rows = (all ? all.past : []).map(a => newest.get(a.id) || a).reverse().slice(0, 10)
		.map(a => [new Date(a.start).toLocaleString(), a.end ? duration(a.duration_s) : "goes on",
			target(a), sorts(a) + (a.observed ? " (observed only)" : ""), number(a.peak.packets_per_s), number(a.peak.bits_per_s),
			number(a.dropped), a.sources.spoofed, `${a.players.before} → ${a.players.min}`,
			Object.keys(a.kinds).slice(0, 2).join(", "),
			[...(a.sources.top || []).map(t => t.source), ...a.top_prefixes.map(w => w.prefix)]
				.slice(0, 2).join(", ")]);
	$("attack").textContent = now.length ? "under attack: " + some(now, a =>
		`${target(a)} (${sorts(a)}, ${duration(a.duration_s)})`) : "";
	document.title = (now.length ? `ATTACK ${some(now, target)} – ` : "") + "quakeshield";
	/* Spoken when another one begins, not each second. */
	const news = now.length ? "under attack: " + some(now, a => `${target(a)}, ${sorts(a)}`) : "";
	/* Without a list nothing is known: neither that one begins nor that it has ended. */
	if (all && news !== told) {
		$("said").textContent = news || "no attack any more";
		told = news;
	}
	replace("attacks", ...(!rows.length ? [] : [element("section", { "data-key": "attacks" },
		element("h2", {}, "Attacks ", element("small", {}, "newest first; more: quakeshield attacks")),
		table(heads("~start", "lasted", "service", "type", "packets/s#", "~bit/s#", "~dropped#",
			"~spoofed", "~players#", "~mostly", "from"), rows))]));
}

/* --- the plots ------------------------------------------------------------ */

let past = null;
const plots = [
	{ id: "packets", unit: "packets/s", log: true, top: 100, lines: [
		["passed", "pass", 1], ["responded", "respond", 1], ["challenged", "challenge", 1],
		["dropped", "drop", 1]] },
	{ id: "bits", unit: "bit/s", log: true, top: 1e5, lines: [
		["bytes_in", "pass", 8, "in"], ["bytes_out", "out", 8, "out", [7, 4]]] },
	{ id: "crowd", unit: "players", log: false, top: 8, lines: [["players", "ink", 1]] },
];

function colour(name) {
	return getComputedStyle(document.documentElement).getPropertyValue("--" + name);
}

const styleOf = dash => !dash || !dash.length ? "solid" : dash[0] < 4 ? "dotted" : "dashed";

function caption(plot, point) {
	const text = plot.lines.map(([column, mark, scale, name, dash]) =>
		element("i", { style: `--mark: var(--${mark}); --width: ${widthOf(mark)}px; ` +
			`--dash: ${styleOf(dash || dashes[mark])}` },
			(name || column) + " " +
			(point ? number(point[past.columns.indexOf(column)] * scale) : "")));
	const when = point ? ` at ${new Date(point[0] * 1000).toLocaleTimeString()}` : "";
	$(plot.id + "-at").replaceChildren(plot.unit + when, ...text);
}

function draw(plot) {
	const canvas = $(plot.id), g = canvas.getContext("2d"), dots = devicePixelRatio || 1;
	const w = canvas.clientWidth, h = canvas.clientHeight, left = 44, base = h - 18;
	const end = past.points.length ? past.points[past.points.length - 1][0] : 0;
	const scaled = plot.lines.map(([column, , scale]) => {
		const i = past.columns.indexOf(column);
		return past.points.map(p => p[i] * scale);
	});
	const most = Math.max(plot.top, ...scaled.flat());
	const level = v => plot.log ? Math.log10(1 + v) / Math.log10(1 + most) : v / most;
	const y = v => base - level(v) * (base - 8);
	const x = t => left + (w - left - 4) * (1 - (end - t) / past.seconds);
	canvas.width = w * dots;
	canvas.height = h * dots;
	g.scale(dots, dots);
	g.font = "11px system-ui, sans-serif";
	g.fillStyle = colour("soft");
	g.strokeStyle = colour("line");
	const marks = plot.log ? [0, ...Array.from({ length: 13 }, (_, i) => 10 ** i)]
		: [0, most / 2, most];
	let last = Infinity;
	for (const m of marks.filter(v => v <= most)) {
		if (last - y(m) < 16 && m) continue;
		last = y(m);
		g.beginPath(); g.moveTo(left, last + .5); g.lineTo(w, last + .5); g.stroke();
		g.textAlign = "right"; g.fillText(number(m), left - 6, last + 4);
	}
	const hours = past.seconds > 3600, unit = hours ? 3600 : 60;
	const step = w < 500 ? (hours ? 8 : 5) : hours ? 4 : 2;
	for (let back = past.seconds / unit; back >= 0; back -= step) {
		g.textAlign = back ? "center" : "right";
		g.fillText(back ? `-${back} ${hours ? "h" : "min"}` : "now",
			Math.max(x(end - back * unit), left + 16), h - 4);
	}
	plot.lines.forEach(([, mark, , , dash], i) => {
		g.setLineDash(dash || dashes[mark] || []);
		g.strokeStyle = colour(mark);
		g.lineWidth = widthOf(mark);
		g.lineJoin = "round";
		g.beginPath();
		past.points.forEach((p, j) => {
			/* A gap in time is a gap in the line. */
			const joined = j && p[0] - past.points[j - 1][0] <= 4 * past.every;
			g[joined ? "lineTo" : "moveTo"](x(p[0]), y(scaled[i][j]));
		});
		g.stroke();
	});
	const aim = plot.pointer !== undefined ? plot.pointer : plot.time !== undefined ? x(plot.time) : null;
	const at = aim === null ? null : past.points.reduce((best, p) =>
		!best || Math.abs(x(p[0]) - aim) < Math.abs(x(best[0]) - aim) ? p : best, null);
	g.setLineDash([]);
	if (at) {
		g.strokeStyle = colour("soft");
		g.lineWidth = 1;
		g.beginPath(); g.moveTo(x(at[0]), 8); g.lineTo(x(at[0]), base); g.stroke();
	}
	caption(plot, at || past.points[past.points.length - 1]);
}

function drawAll() {
	if (past) plots.forEach(draw);
	document.querySelectorAll("canvas.pace").forEach(c => drawPace(c, c.dataset.service));
}
let source = "history.json";
for (const [id, path] of [["minutes", "history.json"], ["day", "day.json"]])
	$(id).addEventListener("click", async () => {
		source = path;
		$("minutes").setAttribute("aria-pressed", String(id === "minutes"));
		$("day").setAttribute("aria-pressed", String(id === "day"));
		await look();
		drawAll();
	});
for (const plot of plots) {
	$(plot.id).addEventListener("pointermove", e => { plot.pointer = e.offsetX; drawAll(); });
	$(plot.id).addEventListener("pointerleave", () => { delete plot.pointer; drawAll(); });
	/* A point to the left or right; with Shift ten; Escape: the newest again. */
	$(plot.id).addEventListener("keydown", e => {
		const by = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
		if (!past || !past.points.length || (!by && e.key !== "Escape")) return;
		const last = past.points.length - 1;
		const now = plot.time === undefined ? last : past.points.findIndex(p => p[0] >= plot.time);
		const to = Math.min(last, Math.max(0, now + (by || 0) * (e.shiftKey ? 10 : 1)));
		if (by) plot.time = past.points[to][0];
		else delete plot.time;
		$(plot.id + "-at").setAttribute("aria-live", by ? "polite" : "off");
		e.preventDefault();
		drawAll();
	});
}
addEventListener("resize", drawAll);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);

/* --- once a second -------------------------------------------------------- */

/* The daemon gave no answer, or half of one. All other errors are the page's own. */
class Unanswered extends Error {}

async function get(path) {
	try {
		const response = await fetch(path, { cache: "no-store" });
		if (response.ok) return await response.json();
		throw new Error(response.status);
	} catch (error) {
		throw new Unanswered(`${path}: ${error.message}`);
	}
}

let ticks = 0, live = null, recent = null;
let stats = null, players = null, attacks = null; /* as they were read last */

/* What the plots show; and the last ten minutes, for the tiles. */
async function look() {
	const path = source;
	recent = await get("history.json");
	const other = path === "history.json" ? recent : await get(path);
	if (path === source) past = other;
}

function show() {
	showServices(stats, attacks, players);
	drawAll();
}

async function tick() {
	try {
		/* The daemon may tell the same reading twice: then its rates are still those. */
		const read = await get("stats.json");
		if (!stats || read.time !== stats.time) {
			stats = read;
			pace(stats);
			remember(stats);
		}
		showLinks(stats);
		/* Not to be had on a public address. */
		players = await get("players.json").catch(() => null);
		attacks = await get("attacks.json").catch(() => null);
		if (ticks++ % 2 === 0) await look();
		showTiles(stats, recent);
		showAttacks(attacks);
		showPlayers(players, stats.services.reduce((n, s) => n + s.players, 0));
		showOther(stats);
		show();
		live = new Date();
		document.body.classList.remove("stale");
	} catch (error) {
		console.error(error);
		document.body.classList.add("stale");
		document.title = "(not live) quakeshield";
		$("attack").textContent = "";
		$("links").replaceChildren(element("span", { class: "bad" },
			(error instanceof Unanswered ? "the daemon does not answer" :
				`this page failed (${error.message}): load it again`) +
			(live ? `: what is below is of ${live.toLocaleTimeString()} and before` : "") +
			(error instanceof Unanswered ? "; what is loaded in the kernel works without it" : "")));
	}
	setTimeout(tick, 1000);
}
tick();
