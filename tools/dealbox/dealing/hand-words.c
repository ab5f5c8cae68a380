// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string.h>

#include "hand-words.h"

static const struct hand_words languages[] = {
	{ "en",
	  "You deal by hand. Enter: the board is in; and later, it is out. Put each card where the "
	  "large letter says, and name the next one: its rank, then 1 spade, 2 heart, 3 diamond, 4 "
	  "club. Backspace takes the last card back, Esc pauses.",
	  "The board is in.", "The board is out.",
	  "Name the first card.", "card %u of %u",
	  { [DEALBOX_PROMPT_LAST] = ("The last card. If no card is left, "
				     "and it lies there, press Enter."),
	    [DEALBOX_PROMPT_SAME] = ("The same card again. A second one does not belong to the "
				     "pack: take it out. Backspace shows the seat again."),
	    [DEALBOX_PROMPT_DEALT] = ("That card was dealt already. Look again and name the right "
				      "one. If it really is that card, name it once more: the "
				      "board is void then."),
	    [DEALBOX_PROMPT_FOREIGN] = ("That card does not belong to the deal. "
					"Lay it aside and go on."),
	    [DEALBOX_PROMPT_UNREAD] = "That is no card. Name it again.",
	    [DEALBOX_PROMPT_SHORT] = ("Cards are missing. Is the pack at its end? Then press Enter "
				      "again: the board is void. Otherwise name the next card.")} },
	{ "nb",
	  "Du legger for hånd. Enter: mappen er på plass; og siden: den er tatt ut. Legg hvert "
	  "kort dit den store bokstaven sier, og tast det neste: valør, så 1 spar, 2 hjerter, 3 "
	  "ruter, 4 kløver. Backspace tar siste kort tilbake, Esc gir pause.",
	  "Mappen er på plass.", "Mappen er tatt ut.",
	  "Tast det første kortet.", "kort %u av %u",
	  { [DEALBOX_PROMPT_LAST] = ("Siste kort. Er det ingen kort igjen, "
				     "og ligger det der, trykk Enter."),
	    [DEALBOX_PROMPT_SAME] = ("Samme kort igjen. Et kort til av samme slag hører ikke til: "
				     "ta det ut. Backspace viser plassen igjen."),
	    [DEALBOX_PROMPT_DEALT] = ("Det kortet er allerede lagt. Se etter, og tast det rette. "
				      "Er det virkelig det kortet, tast det en gang til: "
				      "da er spillet ugyldig."),
	    [DEALBOX_PROMPT_FOREIGN] = ("Det kortet hører ikke til spillet. "
					"Legg det bort og fortsett."),
	    [DEALBOX_PROMPT_UNREAD] = "Det er ikke noe kort. Tast det på nytt.",
	    [DEALBOX_PROMPT_SHORT] = ("Kort mangler. Er stokken slutt? Trykk da Enter igjen: "
				      "spillet er ugyldig. Ellers tast neste kort.")} },
	{ "el",
	  "Μοιράζετε με το χέρι. Enter: το ταμπλό μπήκε· και μετά: βγήκε. Βάλτε κάθε φύλλο εκεί "
	  "που λέει το μεγάλο γράμμα και δώστε το επόμενο: αξία, μετά 1 πίκα, 2 κούπα, 3 καρό, 4 "
	  "σπαθί. Το Backspace παίρνει πίσω το τελευταίο φύλλο, το Esc σταματά.",
	  "Το ταμπλό μπήκε.", "Το ταμπλό βγήκε.",
	  "Δώστε το πρώτο φύλλο.", "φύλλο %u από %u",
	  { [DEALBOX_PROMPT_LAST] = ("Το τελευταίο φύλλο. Αν δεν έμεινε άλλο και "
				     "βρίσκεται εκεί, πατήστε Enter."),
	    [DEALBOX_PROMPT_SAME] = ("Το ίδιο φύλλο ξανά. Αν υπάρχει δεύτερο, βγάλτε το. Το "
				     "Backspace δείχνει πάλι τη θέση."),
	    [DEALBOX_PROMPT_DEALT] = ("Αυτό το φύλλο έχει ήδη μοιραστεί. Δώστε το σωστό. Αν είναι "
				      "πράγματι αυτό, δώστε το ξανά: η διανομή ακυρώνεται."),
	    [DEALBOX_PROMPT_FOREIGN] = ("Αυτό το φύλλο δεν ανήκει στη διανομή. "
					"Αφήστε το στην άκρη και συνεχίστε."),
	    [DEALBOX_PROMPT_UNREAD] = "Αυτό δεν είναι φύλλο. Δώστε το πάλι.",
	    [DEALBOX_PROMPT_SHORT] = ("Λείπουν φύλλα. Τελείωσε η τράπουλα; Τότε πατήστε πάλι "
				      "Enter: η διανομή ακυρώνεται. Αλλιώς δώστε το επόμενο "
				      "φύλλο.")} },
	{ "fr",
	  "Vous distribuez à la main. Entrée : l’étui est en place ; puis : il est retiré. Posez "
	  "chaque carte là où le dit la grande lettre, et nommez la suivante : sa hauteur, puis 1 "
	  "pique, 2 cœur, 3 carreau, 4 trèfle. Retour arrière reprend la dernière carte, Échap met "
	  "en pause.",
	  "L’étui est en place.", "L’étui est retiré.",
	  "Nommez la première carte.", "carte %u sur %u",
	  { [DEALBOX_PROMPT_LAST] = ("La dernière carte. S’il n’en reste aucune et qu’elle est "
				     "posée, appuyez sur Entrée."),
	    [DEALBOX_PROMPT_SAME] = ("La même carte encore. S’il y en a une seconde, retirez-la. "
				     "Retour arrière montre de nouveau la place."),
	    [DEALBOX_PROMPT_DEALT] = ("Cette carte est déjà distribuée. Nommez la bonne. "
				      "Si c’est vraiment elle, nommez-la encore une fois : "
				      "la donne est alors nulle."),
	    [DEALBOX_PROMPT_FOREIGN] = ("Cette carte n’est pas de la donne. "
					"Mettez-la de côté et continuez."),
	    [DEALBOX_PROMPT_UNREAD] = "Ce n’est pas une carte. Nommez-la de nouveau.",
	    [DEALBOX_PROMPT_SHORT] = ("Il manque des cartes. Le paquet est-il fini ? Alors appuyez "
				      "encore sur Entrée : la donne est nulle. Sinon, nommez la "
				      "carte suivante.")} },
	{ "ru",
	  "Вы сдаёте вручную. Enter: борд на месте; потом: борд вынут. Кладите каждую карту туда, "
	  "куда указывает большая буква, и называйте следующую: достоинство, затем 1 пика, 2 "
	  "черва, 3 бубна, 4 трефа. Backspace возвращает последнюю карту, Esc — пауза.",
	  "Борд на месте.", "Борд вынут.",
	  "Назовите первую карту.", "карта %u из %u",
	  { [DEALBOX_PROMPT_LAST] = ("Последняя карта. Если карт больше нет и она "
				     "лежит на месте, нажмите Enter."),
	    [DEALBOX_PROMPT_SAME] = ("Та же карта ещё раз. Если есть вторая, выньте её. Backspace "
				     "снова покажет место."),
	    [DEALBOX_PROMPT_DEALT] = ("Эта карта уже сдана. Назовите правильную. Если это в самом "
				      "деле она, назовите её ещё раз: сдача будет "
				      "недействительна."),
	    [DEALBOX_PROMPT_FOREIGN] = "Эта карта не из сдачи. Отложите её и продолжайте.",
	    [DEALBOX_PROMPT_UNREAD] = "Это не карта. Назовите её снова.",
	    [DEALBOX_PROMPT_SHORT] = ("Не хватает карт. Колода кончилась? Тогда нажмите Enter ещё "
				      "раз: сдача недействительна. Иначе назовите следующую "
				      "карту.")} },
};

#define LANGUAGES	(sizeof(languages) / sizeof(languages[0]))

const struct hand_words *hand_words_find(const char *language)
{
	for (size_t n = 0; language && n < LANGUAGES; n++)
		if (!strcmp(languages[n].language, language))
			return &languages[n];
	return &languages[0];
}
