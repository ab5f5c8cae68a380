// SPDX-License-Identifier: LGPL-2.1-or-later
/* Words on paper. Players of preferans are counted from the dealer's left. */
#include <stdbool.h>
#include <string.h>

#include "words.h"

const char *const suit_signs[4] = { "♠", "♥", "♦", "♣" };

static const struct words languages[] = {
	{
		.language = "en",
		.ranks = { "A", "K", "Q", "J" },
		.seats = { "N", "E", "S", "W" },
		.seat_names = { "North", "East", "South", "West" },
		.sides = { "NS", "EW" },
		.players = { "I", "II", "III", "T" },
		.vulnerable = { "None vul.", "NS vul.", "EW vul.", "All vul." },
		.dealer = "Dealer %s", .board = "Board", .records = "Hand records",
		.session = "Session", .set = "Set", .page = "Page %u of %u",
		.points = "Points", .suits = { "Spades", "Hearts", "Diamonds", "Clubs" },
		.notrump = "NT", .tricks = "Tricks", .par = "Par", .makes = "Makes",
		.footnote = "Double dummy: what can be made when all four hands are seen, not what "
			    "should be bid.",
		.incomplete = "Incomplete", .unknown = "%u cards not known",
		.contract = "Contract", .lead = "Lead", .result = "Result", .auction = "Auction",
		.statistics = "Statistics", .mean = "Mean", .expected = "Expected",
		.shapes = "Shapes",
		.all = "All", .receipt = "Dealing receipt", .added = "Job %lu, added by %s at %s",
		.copy = "Copy", .begun = "Begun", .ended = "Ended", .machine = "Machine",
		.insertion = "Insertion", .outcome = "Outcome",
		.outcomes = { "not known yet", "exact", "differs", "void", "unknown", "captured",
			      "revoked" },
		.head = "ledger head",
	}, {
		.language = "nb",
		.ranks = { "E", "K", "D", "Kn" },
		.seats = { "N", "Ø", "S", "V" },
		.seat_names = { "Nord", "Øst", "Sør", "Vest" },
		.sides = { "NS", "ØV" },
		.players = { "I", "II", "III", "T" },
		.vulnerable = { "Ingen i sonen", "NS i sonen", "ØV i sonen", "Alle i sonen" },
		.dealer = "Giver %s", .board = "Spill", .records = "Spillfordelinger",
		.session = "Økt", .set = "Sett", .page = "Side %u av %u",
		.points = "Poeng", .suits = { "Spar", "Hjerter", "Ruter", "Kløver" },
		.notrump = "NT", .tricks = "Stikk", .par = "Par", .makes = "Går",
		.footnote = "Med åpne kort: hva som kan vinnes når alle fire hender er synlige, "
			    "ikke hva som bør meldes.",
		.incomplete = "Ufullstendig", .unknown = "%u kort ukjent",
		.contract = "Kontrakt", .lead = "Utspill", .result = "Resultat",
		.auction = "Meldinger",
		.statistics = "Statistikk", .mean = "Snitt", .expected = "Forventet",
		.shapes = "Fordelinger", .all = "Alle", .receipt = "Kvittering for legging",
		.added = "Jobb %lu, lagt inn av %s %s",
		.copy = "Kopi", .begun = "Begynt", .ended = "Slutt", .machine = "Maskin",
		.insertion = "Innsetting", .outcome = "Utfall",
		.outcomes = { "ikke kjent ennå", "eksakt", "avviker", "ugyldig", "ukjent", "lest",
			      "trukket tilbake" },
		.head = "protokollens ende",
	}, {
		.language = "el",
		.ranks = { "Α", "Ρ", "Ν", "Β" },
		.seats = { "Β", "Α", "Ν", "Δ" },
		.seat_names = { "Βορράς", "Ανατολή", "Νότος", "Δύση" },
		.sides = { "ΒΝ", "ΑΔ" },
		.players = { "I", "II", "III", "Τ" },
		.vulnerable = { "Ζώνη: καμία", "Ζώνη: ΒΝ", "Ζώνη: ΑΔ", "Ζώνη: όλοι" },
		.dealer = "Μοιράζει %s", .board = "Διανομή", .records = "Διανομές",
		.session = "Συνάντηση", .set = "Σετ", .page = "Σελίδα %u από %u",
		.points = "Πόντοι", .suits = { "Πίκες", "Κούπες", "Καρό", "Σπαθιά" },
		.notrump = "ΧΑ", .tricks = "Λεβέ", .par = "Παρ", .makes = "Βγαίνουν",
		.footnote = "Με ανοιχτά χαρτιά: τι βγαίνει όταν φαίνονται και τα τέσσερα χέρια, "
			    "όχι τι πρέπει να αγοραστεί.",
		.incomplete = "Ελλιπής", .unknown = "%u φύλλα άγνωστα",
		.contract = "Συμβόλαιο", .lead = "Αντάμ", .result = "Αποτέλεσμα",
		.auction = "Αγορά",
		.statistics = "Στατιστικά", .mean = "Μέσος όρος", .expected = "Αναμενόμενα",
		.shapes = "Κατανομές", .all = "Όλα", .receipt = "Απόδειξη μοιράσματος",
		.added = "Εργασία %lu, από %s στις %s",
		.copy = "Αντίγραφο", .begun = "Αρχή", .ended = "Τέλος", .machine = "Μηχανή",
		.insertion = "Εισαγωγή", .outcome = "Έκβαση",
		.outcomes = { "άγνωστο ακόμη", "ακριβές", "διαφέρει", "άκυρο", "άγνωστο",
			      "διαβάστηκε", "ανακλήθηκε" },
		.head = "τέλος μητρώου",
	}, {
		.language = "fr",
		.ranks = { "A", "R", "D", "V" },
		.seats = { "N", "E", "S", "O" },
		.seat_names = { "Nord", "Est", "Sud", "Ouest" },
		.sides = { "NS", "EO" },
		.players = { "I", "II", "III", "T" },
		.vulnerable = { "Personne vul.", "NS vul.", "EO vul.", "Tous vul." },
		.dealer = "Donneur %s", .board = "Donne", .records = "Donnes",
		.session = "Séance", .set = "Jeu", .page = "Page %u sur %u",
		.points = "Points", .suits = { "Pique", "Cœur", "Carreau", "Trèfle" },
		.notrump = "SA", .tricks = "Levées", .par = "Par", .makes = "Réalisable",
		.footnote = "À cartes ouvertes : ce qui est réalisable quand on voit les quatre "
			    "mains, non ce qu’il faut annoncer.",
		.incomplete = "Incomplète", .unknown = "%u cartes inconnues",
		.contract = "Contrat", .lead = "Entame", .result = "Résultat",
		.auction = "Enchères",
		.statistics = "Statistiques", .mean = "Moyenne", .expected = "Attendu",
		.shapes = "Distributions", .all = "Tous", .receipt = "Reçu de distribution",
		.added = "Tâche %lu, ajoutée par %s le %s",
		.copy = "Copie", .begun = "Début", .ended = "Fin", .machine = "Machine",
		.insertion = "Insertion", .outcome = "Issue",
		.outcomes = { "pas encore connue", "exact", "diffère", "nul", "inconnue", "lu",
			      "révoqué" },
		.head = "tête du registre",
	}, {
		.language = "ru",
		.ranks = { "Т", "К", "Д", "В" },
		.seats = { "С", "В", "Ю", "З" },
		.seat_names = { "Север", "Восток", "Юг", "Запад" },
		.sides = { "СЮ", "ВЗ" },
		.players = { "I", "II", "III", "П" },
		.vulnerable = { "Зона: нет", "Зона: СЮ", "Зона: ВЗ", "Зона: все" },
		.dealer = "Сдаёт %s", .board = "Сдача", .records = "Расклады",
		.session = "Сессия", .set = "Комплект", .page = "Страница %u из %u",
		.points = "Очки", .suits = { "Пики", "Червы", "Бубны", "Трефы" },
		.notrump = "БК", .tricks = "Взятки", .par = "Пар", .makes = "Выполнимо",
		.footnote = "В открытую: что можно взять, видя все четыре руки, "
			    "а не что следует заявлять.",
		.incomplete = "Неполная", .unknown = "неизвестно карт: %u",
		.contract = "Контракт", .lead = "Атака", .result = "Результат",
		.auction = "Торговля",
		.statistics = "Статистика", .mean = "Среднее", .expected = "Ожидаемо",
		.shapes = "Расклады мастей", .all = "Все", .receipt = "Квитанция о сдаче",
		.added = "Задание %lu, добавил %s, %s",
		.copy = "Копия", .begun = "Начало", .ended = "Конец", .machine = "Машина",
		.insertion = "Вставка", .outcome = "Исход",
		.outcomes = { "ещё неизвестно", "точно", "отличается", "аннулировано", "неизвестно",
			      "прочитано", "отозвано" },
		.head = "конец журнала",
	},
};

#define LANGUAGES	(sizeof(languages) / sizeof(*languages))

const struct words *words_get(size_t index)
{
	return index < LANGUAGES ? &languages[index] : NULL;
}

static bool is_language(const char *name, const char *code)
{
	const size_t size = strlen(code);

	return !strncmp(name, code, size) && (!name[size] || strchr("_-.@", name[size]));
}

const struct words *words_find(const char *language)
{
	/* all of Norway */
	if (is_language(language, "no") || is_language(language, "nn"))
		language = "nb";
	for (size_t i = 0; i < LANGUAGES; i++)
		if (is_language(language, languages[i].language))
			return &languages[i];
	return NULL;
}
